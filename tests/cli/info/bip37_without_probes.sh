# A node takes such a filter, and everything matches it: its bits say nothing.
head -c 18 /dev/zero | { printf '\010'; head -c 17; } > none.bip37
bloomery info --from bip37 none.bip37 | grep -E '^  (probes|keys|fill|rate now) '
