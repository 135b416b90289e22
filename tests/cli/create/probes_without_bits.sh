bloomery create a.blm -k 3
