export BLOOMERY_CPU=portable
seq 3000 | bloomery create a.blm -m 64 -k 4 --seed 7 --from - --quiet
bloomery info a.blm
bloomery info a.blm --json | grep -A5 estimated
