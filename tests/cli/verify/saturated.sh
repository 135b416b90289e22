seq 2000 | bloomery create a.blm -m 64 -k 3 --seed 7 --from - --quiet
bloomery verify a.blm
