# How many keys such a filter has is asked of its bits: one new line in ten is lost.
seq 20000 >keys
for scheme in guava go spark bip37; do
    bloomery create f --scheme $scheme -n 20000 -p 0.05 --from keys --seed 0 --force --quiet 2>/dev/null ||
        bloomery create f --scheme $scheme -n 20000 -p 0.05 --from keys --force --quiet
    bloomery convert f native --to native --force --quiet
    for state in f native; do
        seq 100001 104000 | bloomery dedup --state $state --json --quiet 2>&1 >/dev/null | tr -d , |
            awk -v what="$scheme $state" '/"duplicates"/ { lost = $2 } /expected_wrongly/ { told = $2 }
                /rate_now/ { rate = $2 }
                END { print what, (lost > 150 && told > 0.8 * lost && told <= lost ? "told" : lost " " told),
                      (rate > 0.07 && rate < 0.1 ? "a rate" : rate) }'
    done
done
