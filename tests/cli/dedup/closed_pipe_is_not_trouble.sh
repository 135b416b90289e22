{ seq 1000000 | bloomery dedup; echo "exit $?" >&2; } | head -n 2
