bloomery create -n 1000
