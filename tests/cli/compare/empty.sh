bloomery create a.blm -n 1000 --seed 7 --quiet
bloomery create b.blm --like a.blm --quiet
bloomery compare a.blm b.blm
