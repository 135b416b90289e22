bloomery calc -n 1e6 seen.blm
