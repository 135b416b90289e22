# They stay when their keys have gone: more are in use than the keys explain.
seq 100 >keys
bloomery create c -n 500 --kind counting --seed 1 --quiet
for i in $(seq 20); do bloomery add c keys --quiet; done
for i in $(seq 20); do bloomery remove c keys --quiet; done
seq 1000 1050 | bloomery add c --quiet
bloomery verify c --trials 1000 | grep fill
bloomery info c | grep -e keys -e stuck
