bloomery create a.blm -n 100 --seed 7 --quiet
bloomery create b.blm --like a.blm --quiet
seq 1 100 | bloomery add a.blm --quiet
seq 101 200 | bloomery add b.blm --quiet
bloomery merge c.blm a.blm b.blm
