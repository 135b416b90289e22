seq 1000 >keys
bloomery create a.blm -n 1000 --seed 7 --from keys --quiet
bloomery convert - - --to native <a.blm >b.blm
cmp <a.blm b.blm - >/dev/null
bloomery check -c b.blm keys
bloomery convert a.blm - --to go --members keys --quiet | bloomery convert - c.blm --to native
bloomery check -c c.blm keys
