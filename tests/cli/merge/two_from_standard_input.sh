bloomery merge c.blm - -
