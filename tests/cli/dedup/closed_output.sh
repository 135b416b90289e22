echo a | bloomery dedup >&-
