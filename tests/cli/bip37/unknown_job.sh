bloomery bip37 dance f
