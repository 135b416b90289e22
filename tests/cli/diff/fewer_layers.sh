bloomery create a.blm -n 100 --kind scalable --seed 7 --quiet
cp a.blm b.blm
seq 1000 | bloomery add b.blm --quiet
bloomery diff b.blm a.blm >delta
