bloomery calc -n 1e6 --kind classic
