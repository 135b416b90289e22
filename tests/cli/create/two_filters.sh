bloomery create a.blm b.blm -n 1000
