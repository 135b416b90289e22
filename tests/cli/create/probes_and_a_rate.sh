# What calc shows, create makes.
bloomery calc -n 100 -p 0.01 -k 3 --kind blocked | grep blocked
bloomery create a -n 100 -p 0.01 -k 3
bloomery create b -n 100 --memory 1K -k 3
bloomery create c -n 100 -k 3
bloomery create c -k 3
bloomery create c -m 100 --memory 1K
