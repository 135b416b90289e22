export BLOOMERY_CPU=portable
seq 900 | bloomery create a.blm -n 1000 -p 0.01 --seed 7 --from - --quiet
bloomery info a.blm --json | sed -E 's/(\.[0-9]{4})[0-9]+/\1/'
