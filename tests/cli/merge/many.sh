bloomery create 1.blm -n 1000 --seed 7 --quiet
for i in 2 3 4 5; do bloomery create $i.blm --like 1.blm --quiet; done
for i in 1 2 3 4 5; do seq ${i}00 ${i}99 | bloomery add $i.blm --quiet; done
bloomery merge all.blm 1.blm 2.blm 3.blm 4.blm 5.blm
seq 100 599 | bloomery check -v -c all.blm
