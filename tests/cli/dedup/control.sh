# Options and operands in any order, letters together, values attached.
printf 'x,1\ny,1\n' >in
bloomery dedup in -f2 -d, -D
bloomery dedup -Df2 -d , in
bloomery dedup --rate=1e-3 in -D -f 2 -d ','
