printf 'a b\nc d\ne\nf\n' | bloomery dedup -f 3 -d ' '
