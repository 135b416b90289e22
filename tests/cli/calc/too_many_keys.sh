bloomery calc -n 1e18 -p 1e-6
