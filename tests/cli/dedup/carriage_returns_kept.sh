printf 'a\r\na\n' | bloomery dedup | od -c
