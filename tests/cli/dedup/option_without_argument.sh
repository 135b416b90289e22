bloomery dedup -n
