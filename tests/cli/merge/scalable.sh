bloomery create a.blm -n 100 --kind scalable --seed 7 --quiet
bloomery create b.blm --like a.blm --quiet
seq 1 150 | bloomery add a.blm --quiet
seq 151 400 | bloomery add b.blm --quiet
bloomery merge c.blm a.blm b.blm
seq 400 | bloomery check -c c.blm
bloomery info c.blm | sed -n '/planned/p; /^  layer/,$p'
