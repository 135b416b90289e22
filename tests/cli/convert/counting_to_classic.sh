seq 1000 | bloomery create a.blm -n 1000 --kind counting --seed 7 --from - --quiet
bloomery convert a.blm b.blm --to native --kind classic
seq 1000 | bloomery check -c b.blm
bloomery info b.blm | sed -n '2,4p'
