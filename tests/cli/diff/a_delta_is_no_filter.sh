# needs: ZSTD
bloomery create a -n 1e5 --seed 1 --quiet
cp a b
seq 90000 | bloomery add b --quiet
bloomery diff a b >delta --quiet
bloomery info delta
bloomery info - <delta
bloomery check delta b
