seq 1000 >keys
bloomery create a.guava -n 1000 --scheme guava64 --from keys --quiet
bloomery convert a.guava b.blm --to native --scheme native --members keys
bloomery info b.blm | sed -n '2,6p'
bloomery check -c b.blm keys
