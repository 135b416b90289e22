bloomery create a.blm -n 1000 -p 1e-6 --kind scalable --seed 1 --quiet
seq 100000 | bloomery add a.blm
seq 100000 | bloomery check -c a.blm
seq 100001 200000 | bloomery check -c a.blm
