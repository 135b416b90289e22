seq 5000 | bloomery dedup -n 1000 -p 0.01 2>&1 >/dev/null |
    sed 's/holds about [0-9,]* diff/holds about N diff/; s/[0-9.]*% of/X% of/'
seq 5000 | bloomery dedup -n 1000 -p 0.01 --quiet 2>&1 >/dev/null
