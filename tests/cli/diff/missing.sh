bloomery create a.blm -n 1000 --quiet
bloomery diff a.blm b.blm >delta
