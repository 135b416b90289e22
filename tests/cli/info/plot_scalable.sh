export LC_ALL=C.UTF-8
export BLOOMERY_CPU=portable
seq 9000 | bloomery create a.blm -n 1000 --kind scalable --seed 7 --from - --quiet
bloomery info --plot a.blm
