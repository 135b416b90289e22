bloomery calc -n 5e9 -p 0.01 --kind classic
