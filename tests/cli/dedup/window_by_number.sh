(seq 1000; seq 1000; seq 5000 9000; seq 1000) | bloomery dedup --window 2000 | wc -l
(seq 1000; seq 1000; seq 5000 9000; seq 1000) | bloomery dedup --window 2000 -D | wc -l
