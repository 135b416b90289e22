bloomery calc -n 50e6 --memory 64M
