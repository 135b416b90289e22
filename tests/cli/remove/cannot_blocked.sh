bloomery create a.blm -n 1000 --kind blocked --quiet
bloomery remove a.blm </dev/null
