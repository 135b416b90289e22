printf 'one\nline\0two\0one\nline\0last' | bloomery dedup -0 | od -c
