echo a | bloomery dedup >/dev/full
