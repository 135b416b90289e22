bloomery create a.blm -m 1e6 -k 3
