export LC_ALL=C.UTF-8
export BLOOMERY_CPU=portable
seq 5000 | bloomery create a.blm -n 4000 -p 0.01 --seed 7 --from - --quiet
bloomery info --plot a.blm
