bloomery dedup -f 1 -d ab
