bloomery create a.blm -n 1000 -p 0.001 --kind blocked
bloomery create b.blm --like a.blm
bloomery create c.blm --like a.blm -n 5
