printf '\n\na\n\n' | bloomery dedup | od -c
