bloomery create a.blm -n 1000 --kind scalable --seed 7 --quiet
bloomery create b.blm --like a.blm --quiet
bloomery intersect c.blm a.blm b.blm
