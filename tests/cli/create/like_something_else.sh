echo no filter >text
bloomery create f -n 5 --quiet
bloomery create g --like text
bloomery create g --like - <text
bloomery info text
