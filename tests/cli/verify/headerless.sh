seq 900 >keys
bloomery create a.blm -n 1000 --seed 7 --from keys --quiet
bloomery convert a.blm a.raw --to raw --scheme go --members keys -n 1000 --quiet
bloomery verify --from raw --from-scheme go -m 9586 -k 7 --members keys --trials 100000 a.raw
