seq 50000 | bloomery dedup --memory 4K -p 0.01 2>&1 >/dev/null |
    sed 's/holds about [0-9,]* diff/holds about N diff/; s/[0-9.]*% of/X% of/'
