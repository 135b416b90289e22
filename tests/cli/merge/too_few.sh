bloomery merge
bloomery merge c.blm
bloomery merge c.blm a.blm
