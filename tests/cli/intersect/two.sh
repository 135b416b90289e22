bloomery create a.blm -n 1000 --seed 7 --quiet
bloomery create b.blm --like a.blm --quiet
seq 1 300 | bloomery add a.blm --quiet
seq 201 500 | bloomery add b.blm --quiet
bloomery intersect c.blm a.blm b.blm
seq 201 300 | bloomery check -c c.blm
seq 1 500 | bloomery check -c c.blm
