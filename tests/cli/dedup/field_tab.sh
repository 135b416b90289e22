printf 'a\t1\nb\t1\nc\t2\n' | bloomery dedup -f2
