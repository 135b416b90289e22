printf 'a\nb\n' >one
printf 'b\nc\n' >two
bloomery dedup one two -n 10
