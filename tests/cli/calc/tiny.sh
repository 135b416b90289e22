bloomery calc -n 1 -p 0.5
