bloomery create f.blm --kind cuckoo -n 1000 --seed 1
yes same | head -n 8 | bloomery add f.blm
echo same | bloomery add f.blm
seq 2000 | bloomery add f.blm
