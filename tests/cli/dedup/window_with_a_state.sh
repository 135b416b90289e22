# dedup has no fixed seed: at the usual rate, 1e-6, one run in 230 drops a new line here.
(seq 1000; seq 1000; seq 5000 9000; seq 1000) | bloomery dedup --window 2000 -p 1e-9 --state s.blm | wc -l
seq 500 1500 | bloomery dedup --window 2000 -p 1e-9 --state s.blm | wc -l
printf "x\ny\nx" | bloomery dedup --state s.blm
bloomery create other.blm -n 10
bloomery dedup --window 2000 --state other.blm < /dev/null
bloomery dedup --window 3000 --state s.blm < /dev/null
bloomery dedup --window 10m --state s.blm < /dev/null
seq 5 | bloomery dedup --window 10m -n 1e4 --state t.blm | wc -l
seq 8 | bloomery dedup --window 10m --state t.blm | wc -l
bloomery dedup --window 5m --state t.blm < /dev/null
