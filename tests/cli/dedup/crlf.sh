printf 'a\r\na\nb\r\n\r\n\n' | bloomery dedup --crlf | od -c
