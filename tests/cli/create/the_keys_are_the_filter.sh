# --force does not destroy the keys, by whatever name they come.
seq 100 >k
cp k before
ln -s k link
ln k hard
for from in k ./k link hard; do bloomery create k -n 100 --from $from --force; done
bloomery create link -n 100 --from k --force
bloomery create k -n 100 --from - --force <k
bloomery create k -n 100 --from /dev/stdin --force <k
bloomery create f -n 100 --from k --quiet
bloomery convert f k --to guava --members k --force
bloomery add f f
bloomery add f <f
bloomery create c -n 100 --kind counting --from k --quiet
bloomery remove c c
bloomery dedup --state f f
cmp k before && cmp link before
bloomery check -c f k
