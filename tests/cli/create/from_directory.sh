mkdir keys
bloomery create a.blm -n 1000 --from keys
