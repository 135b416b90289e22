bloomery calc -n 1e6 -p 0.01
