bloomery create a.blm -n 1000 --seed 7 --quiet
bloomery create b.blm --like a.blm --quiet
seq 1 300 | bloomery add a.blm --quiet
seq 201 500 | bloomery add b.blm --quiet
bloomery merge a.blm a.blm b.blm
echo "exit $?"
bloomery merge --force a.blm a.blm b.blm
seq 1 500 | bloomery check -c a.blm
