bloomery dedup --memory
