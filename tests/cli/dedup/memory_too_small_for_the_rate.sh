seq 1000 | bloomery dedup --memory 1M -n 1e6 -p 1e-4
