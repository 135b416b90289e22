bloomery verify a.blm
