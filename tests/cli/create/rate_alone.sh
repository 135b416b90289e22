bloomery create a.blm -p 0.01
