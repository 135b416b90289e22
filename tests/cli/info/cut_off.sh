bloomery create a.blm -n 1000 --quiet
head -c 1000 a.blm >b.blm
bloomery info b.blm
