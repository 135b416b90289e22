# A filter from which keys can be removed, until it is full.
bloomery create f.blm --kind cuckoo -n 1000 --seed 1
seq 1000 | bloomery add f.blm
seq 500 | bloomery remove f.blm
seq 501 1000 | bloomery check -c f.blm
seq 501 1000 | sed 's/^/new /' | bloomery add f.blm
seq 2000 3000 | bloomery add f.blm
echo "status $?"
bloomery verify f.blm | grep -v rate
bloomery create g.blm --kind cuckoo -n 1000 -k 3 -m 100
bloomery merge h.blm f.blm f.blm
