printf 'a\nb\na' >one
printf 'c' >two
printf 'c\nd' | bloomery dedup one two - | od -c
