bloomery create a.blm -n 1000 --quiet
bloomery add a.blm </dev/null
