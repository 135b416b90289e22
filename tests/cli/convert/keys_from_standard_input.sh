seq 1000 >keys
bloomery create a.blm -n 1000 --seed 7 --from keys --quiet
bloomery convert a.blm a.guava --to guava --members - <keys
bloomery check -c a.guava keys
