bloomery calc -m 1e9 -k 7 -p 1e-3 --kind classic
