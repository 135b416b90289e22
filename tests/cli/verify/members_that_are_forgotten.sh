seq 500 >keys
bloomery create w --last 100 --seed 1 --from keys --quiet
bloomery verify w --members keys --trials 1000 | grep members
