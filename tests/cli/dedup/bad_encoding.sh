bloomery dedup -e utf16
