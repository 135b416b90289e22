bloomery create a.blm -m 1e6
