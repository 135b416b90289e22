printf 'a\nb\n' >one
printf 'b\nc\n' | bloomery dedup one - -n 10
