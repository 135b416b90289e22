bloomery create a.blm -n 1000 --quiet
bloomery compare a.blm b.blm
