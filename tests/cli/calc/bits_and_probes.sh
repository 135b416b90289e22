bloomery calc -m 1e6 -k 3
