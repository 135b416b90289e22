bloomery calc -n 1e6 --memory 1M -p 0.01
