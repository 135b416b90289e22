# dedup has no fixed seed: at the usual rate, 1e-6, one run in 140 drops a new line here.
(seq 1000; seq 1000; seq 5000 9000; seq 1000) | bloomery dedup --window 2000 -p 1e-9 | wc -l
(seq 1000; seq 1000; seq 5000 9000; seq 1000) | bloomery dedup --window 2000 -p 1e-9 -D | wc -l
