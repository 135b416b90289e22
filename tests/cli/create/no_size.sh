bloomery create a.blm
