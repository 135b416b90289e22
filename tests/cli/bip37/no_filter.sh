bloomery bip37 match </dev/null
