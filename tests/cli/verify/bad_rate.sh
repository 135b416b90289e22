bloomery verify a.blm --rate 2
bloomery verify a.blm -p 0
