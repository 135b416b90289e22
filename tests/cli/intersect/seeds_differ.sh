bloomery create a.blm -n 1000 --quiet
bloomery create b.blm -n 1000 --quiet
bloomery intersect c.blm a.blm b.blm
