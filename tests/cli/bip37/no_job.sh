bloomery bip37
