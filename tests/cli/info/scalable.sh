export BLOOMERY_CPU=portable
seq 5000 | bloomery create a.blm -n 1000 -p 0.01 --kind scalable --seed 7 --from - --quiet
bloomery info a.blm
