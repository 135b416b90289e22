export BLOOMERY_CPU=portable
seq 900 | bloomery create a.blm -n 1000 -p 0.01 --kind blocked --seed 7 --from - --quiet
bloomery info a.blm
