bloomery bip37 match nowhere </dev/null
