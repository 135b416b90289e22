seq 5000 | bloomery create a.blm --last 2000 --seed 7 --from - --quiet
bloomery verify a.blm
seq 2000 | bloomery create b.blm --for 1h -n 2000 --seed 7 --from - --quiet 2>note
bloomery verify b.blm
