bloomery create a.blm -n 100 --seed 1 --quiet
seq 1000 | bloomery add a.blm
seq 1000 | bloomery add a.blm --quiet
