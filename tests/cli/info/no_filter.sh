bloomery info
bloomery info --json --colour a.blm
