# It cannot be split, and no fewer keys are left.
bloomery calc -n 1 -p 1e-320
bloomery calc -n 1 -p 1e-320 -k 1 --kind blocked
bloomery calc -n 1 -p 1e-18 -k 1 --kind counting
bloomery calc -n 2 -p 1.2e-19
