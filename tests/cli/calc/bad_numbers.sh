bloomery calc -n many -p 0.01
bloomery calc -n 1e6 -p 1
bloomery calc -n 0 -p 0.01
bloomery calc -n 1e6 --memory lots
bloomery calc -n 1e6 -k 1e10
bloomery calc -n 1e6 --kind best
