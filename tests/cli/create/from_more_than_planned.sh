seq 100000 >keys
bloomery create a.blm -n 1000 --from keys --seed 1
