# The rate of a counting state is that of its own probes: no "one new line in -inf".
bloomery create seen.blm -n 1000 -p 0.01 --kind counting --seed 1 --quiet
seq 3000 | bloomery dedup --state seen.blm 2>&1 >/dev/null |
    sed 's/holds about [0-9,]* diff/holds about N diff/; s/line in [0-9] is/line in X is/'
seq 10 | bloomery dedup --state seen.blm --json --quiet 2>&1 >/dev/null |
    awk '/rate_now/ { print ($2 + 0 > 0.01 ? "a rate" : $2) }'
