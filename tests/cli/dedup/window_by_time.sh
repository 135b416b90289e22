(seq 1000; seq 1000) | bloomery dedup --window 1h -n 10000 --state s.blm | wc -l
seq 1000 | bloomery dedup --window 1h -n 10000 --state s.blm | wc -l
