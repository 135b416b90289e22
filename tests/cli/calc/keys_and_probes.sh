bloomery calc -n 1e6 -k 7 --kind classic
