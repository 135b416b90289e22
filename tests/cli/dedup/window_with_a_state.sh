(seq 1000; seq 1000; seq 5000 9000; seq 1000) | bloomery dedup --window 2000 --state s.blm | wc -l
seq 500 1500 | bloomery dedup --window 2000 --state s.blm | wc -l
printf "x\ny\nx" | bloomery dedup --state s.blm
bloomery create other.blm -n 10
bloomery dedup --window 2000 --state other.blm < /dev/null
