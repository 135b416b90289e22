seq 1000 >keys
bloomery create a.blm -n 1000 --seed 7 --from keys --quiet
printf '61\nzz\n' | bloomery verify a.blm -e hex --members -
