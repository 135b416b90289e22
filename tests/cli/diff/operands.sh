bloomery diff a.blm | cat
bloomery diff - - | cat
