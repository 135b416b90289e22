printf 'a\0b\na\0c\na\0b\na\n' | bloomery dedup | od -c
