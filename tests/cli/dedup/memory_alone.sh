seq 1000 | bloomery dedup --memory 1M | tail -n 1
seq 1000 | bloomery dedup --memory 1M --quiet | tail -n 1
