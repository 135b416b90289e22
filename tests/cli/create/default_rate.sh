bloomery create a.blm -n 1000
