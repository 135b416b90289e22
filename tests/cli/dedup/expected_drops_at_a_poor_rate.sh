# 2,000 lines into a filter for 1,000 at 10%: the figure is the sum of the modelled rate.
seq 2000 | bloomery dedup -n 1000 -p 0.1 --json --quiet 2>&1 >/dev/null |
    python3 -c 'import json, sys
d = json.load(sys.stdin)
print(d["lines"], 150 < d["expected_wrongly_dropped"] < 700, 0.2 < d["rate_now"] < 0.5,
      abs(d["duplicates"] - d["expected_wrongly_dropped"]) < 120)'
