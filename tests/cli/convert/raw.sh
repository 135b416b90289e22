seq 1000 >keys
bloomery create a.blm -n 1000 --seed 7 --from keys --quiet
bloomery convert a.blm a.raw --to raw --members keys
bloomery convert a.blm a.raw --to raw --scheme go --members keys
bloomery convert a.raw b.blm --to native --from raw
bloomery convert a.raw b.blm --to native --from raw --from-scheme go -m 9586 -k 7
bloomery check -c b.blm keys
