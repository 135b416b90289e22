bloomery create a.blm -n 1000 --quiet
mkdir keys
bloomery add a.blm keys
