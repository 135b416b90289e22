# A union's count is a sum, and counters count a key each time: the bits say that there is room.
seq 1000 >keys
bloomery create a -n 1000 --seed 1 --from keys --quiet
bloomery create b --like a --from keys --quiet
bloomery merge m a b --quiet
seq 5000 5004 | bloomery dedup --state m --json 2>&1 | grep -e rate_now -e wrongly | cut -c1-32
seq 100 >keys
bloomery create c -n 500 --kind counting --seed 1 --quiet
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do bloomery add c keys --quiet; done
seq 5000 5004 | bloomery dedup --state c --json 2>&1 | grep -e rate_now -e wrongly | cut -c1-32
