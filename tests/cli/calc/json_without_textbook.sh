bloomery calc -m 1 -p 1e-9 --json
