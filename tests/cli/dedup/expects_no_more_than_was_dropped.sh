# A filter that is far too small: at most what was dropped can have been dropped wrongly.
for n in 300 600 800 1000 1500 2000 5000; do
    seq $n | bloomery dedup --memory 1K --json 2>&1 >/dev/null | grep -E '"(duplicates|expected_wr)' |
        tr -d ',' | awk '{ v[NR] = $2 } END { print v[2] <= v[1] ? "good" : v[2] " of " v[1] }'
done
