bloomery create a.blm -n 1000 --hash md5
