bloomery create f --scheme bip37 -n 40000 -p 1e-4
