echo a >-f
bloomery dedup -- -f
