bloomery create a.blm -n 1000 --kind scalable --quiet
bloomery remove a.blm </dev/null
