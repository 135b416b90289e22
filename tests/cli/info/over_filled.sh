export BLOOMERY_CPU=portable
seq 3000 | bloomery create a.blm -n 1000 --seed 7 --from - --quiet
bloomery info a.blm
