bloomery calc -m 1e6 -k 7 --kind scalable
