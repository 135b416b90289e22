# A filter so full that its count of new lines does not say how many came: a lower bound, and it says
# so. Of the lines here all that were dropped were dropped wrongly.
say()
{
    python3 -c 'import json, sys
d = json.load(sys.stdin)
wrong = d["expected_wrongly_dropped"]
print(d["expected_at_least"], d["rate_now"] > 0.9, 0 <= wrong <= d["duplicates"], wrong >= float(sys.argv[1]))' $1
}
seq 1000000 | bloomery dedup -n 1e4 -p 0.01 --quiet --json 2>&1 >/dev/null | say 3000
seq 1000000 | bloomery dedup -n 1e4 -p 0.01 --quiet --stats 2>&1 >/dev/null |
    sed -n '/^wrongly/s/[0-9][0-9]*/N/p'
seq 1000000 | bloomery dedup -n 1e4 -p 0.01 --state s.blm --quiet --json 2>&1 >/dev/null | say 3000
# From a state that is full few lines are new, or none.
seq 1000001 1001000 | bloomery dedup --state s.blm --quiet --json 2>&1 >/dev/null | say 0
# A window that holds too much.
seq 100000 | bloomery dedup --window 1h -n 1e3 --quiet --json 2>&1 >/dev/null | say 0
# Not yet.
seq 20000 | bloomery dedup -n 1e4 -p 0.01 --quiet --json 2>&1 >/dev/null | grep at_least
