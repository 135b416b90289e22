seq 1000 >keys
bloomery create a.blm -n 1000 --seed 7 --from keys --quiet
bloomery verify - --members keys --trials 100000 <a.blm
