mkdir a
bloomery create a -n 1000
bloomery create a -n 1000 --force
