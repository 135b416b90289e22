mkdir d
bloomery info d
