export BLOOMERY_CPU=portable
yes one | head -20 | bloomery create a.blm -n 100 --kind counting --seed 7 --from - --quiet
bloomery info a.blm | grep fill
