# A filter or a delta from a standard input that is closed.
bloomery create a.blm -n 10 --quiet
for call in "info -" "verify -" "add - a.blm" "check - a.blm" "remove - a.blm" "merge o.blm a.blm -" \
    "intersect o.blm - a.blm" "convert - o.guava --to guava" "compare - a.blm" "diff a.blm -" \
    "create o.blm --like -" "dedup --state -" "patch a.blm" "patch none.blm"; do
    bloomery $call <&- >/dev/null
    echo $? "$call" >&2
done
# What is there but cannot be read is named too.
bloomery patch a.blm <.
ls
