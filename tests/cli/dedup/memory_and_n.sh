seq 1000 | bloomery dedup --memory 2M -n 1e6 | tail -n 1
seq 1000 | bloomery dedup --memory 8M -n 1e6 | tail -n 1
