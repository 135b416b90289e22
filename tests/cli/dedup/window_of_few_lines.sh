# How many lines later a line is still dropped: the window at least, and at most a seventh more and
# six lines, which a short window shows. The first line of a turn is known longest. (dedup has no fixed
# seed: at 1e-6 a forgotten key would be taken for a known one in 4 of a million runs.)
for n in 1 3 7 8 10 50 100; do
    limit=$((8 * ((n + 6) / 7) - 1))
    [ $((7 * limit)) -le $((8 * n + 42)) ] || echo "window $n: $limit is more than is promised"
    for between in $((n - 1)) $((limit - 1)) $limit; do
        { echo key; seq $between; echo key; } | bloomery dedup --window $n -p 1e-9 | grep -c key
    done | paste -sd' '
done
