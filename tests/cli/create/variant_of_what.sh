bloomery create f.blm -n 10 --variant 2
