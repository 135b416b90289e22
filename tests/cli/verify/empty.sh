bloomery create a.blm -n 1000 --seed 7 --quiet
bloomery verify a.blm
