seq 2000 | bloomery create a.blm -n 1000 --seed 7 --from - --quiet
bloomery verify a.blm
