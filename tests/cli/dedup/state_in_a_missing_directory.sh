echo a | bloomery dedup --state no/seen.blm
