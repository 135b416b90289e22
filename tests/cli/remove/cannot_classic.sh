bloomery create a.blm -n 1000 --kind classic --quiet
bloomery remove a.blm </dev/null
