bloomery dedup -x
