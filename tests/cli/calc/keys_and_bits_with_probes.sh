bloomery calc -n 1e6 -m 8e6 -k 3 --kind classic
