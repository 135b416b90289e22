bloomery info nothing.blm
