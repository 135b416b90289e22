# The next run really goes on, as the first one says.
{ seq 200000; echo none; seq 200001 210000; } >keys
bloomery create f -n 3e5 --seed 1 --from keys -e int64 --working-memory 64K 2>&1
sed -i /none/d keys
bloomery create f -n 3e5 --seed 1 --from keys -e int64 --working-memory 64K 2>&1
bloomery create g -n 3e5 --seed 1 --from keys -e int64 --quiet
cmp f g
