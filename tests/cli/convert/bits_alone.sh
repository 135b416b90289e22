seq 100 >keys
bloomery create a.bloom --scheme dcso -n 1000 -p 0.1 --from keys --quiet
printf 'attached' >>a.bloom
bloomery convert a.bloom a.raw --to raw
bloomery convert a.raw b.bloom --to dcso --from raw --from-scheme dcso -m 4792 -k 4
bloomery check -c b.bloom keys
bloomery create a.tx --scheme bip37 --seed 77 --variant 1 -n 1000 -p 0.1 --from keys --quiet
bloomery convert a.tx tx.raw --to raw
bloomery create a.slots --scheme byteslot -n 1000 --from keys --quiet
bloomery convert a.slots b.slots --to byteslot
bloomery convert a.slots - --to raw | wc -c
