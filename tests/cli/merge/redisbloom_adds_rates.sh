# What a file of theirs promises is what the filters in it were made for, also when it is read again.
seq 3000 >a
seq 3001 6000 >b
bloomery create x --scheme redisbloom -n 100 --from a --quiet
bloomery create y --like x --from b --quiet
while bloomery merge x x y --force --quiet; do bloomery info x --json | grep -m1 rate_promised; done
bloomery info x | grep 'rate now'
