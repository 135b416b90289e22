printf '\377\376\n\377\n\377\376\n' | bloomery dedup | od -An -tx1
