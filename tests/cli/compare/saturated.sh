bloomery create a.blm -m 64 -k 2 --seed 7 --quiet
bloomery create b.blm --like a.blm --quiet
seq 5000 | bloomery add a.blm --quiet
seq 3 | bloomery add b.blm --quiet
bloomery compare a.blm b.blm
bloomery compare b.blm a.blm --json | grep null
