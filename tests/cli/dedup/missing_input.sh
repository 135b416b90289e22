echo a >there
bloomery dedup missing there
