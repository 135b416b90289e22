bloomery create a.blm -n 1e18 -p 1e-9
