echo a | bloomery dedup --state -
