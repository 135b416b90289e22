seq 1000 >keys
bloomery create a.blm -n 1000 --seed 7 --from keys --quiet
bloomery convert a.blm b.blm --to native --kind blocked -n 5000 -p 1e-6 --members keys
bloomery info b.blm | sed -n '2,6p'
