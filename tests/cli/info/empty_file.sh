: >a.blm
bloomery info a.blm
