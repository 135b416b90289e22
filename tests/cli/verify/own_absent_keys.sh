seq 1000 >keys
bloomery create a.blm -n 1000 --seed 7 --from keys --quiet
seq 1001 3000 | bloomery verify a.blm --absent -
