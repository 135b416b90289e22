bloomery create a.blm -n 1000 --kind fast
