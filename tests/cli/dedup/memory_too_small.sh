seq 1000 | bloomery dedup --memory 1K -n 1e6
