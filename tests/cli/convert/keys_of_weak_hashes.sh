# Their bits suggest more keys than there are. The same keys give the same bits: no estimate is asked.
seq 300 >all
head -299 all >most
for scheme in dcso byteslot bkdr bkdr-js-rs fnv-murmur; do
    bloomery create f --scheme $scheme -n 300 --from all --force --quiet
    bloomery convert f g --to guava --members all --force --quiet
    bloomery convert f g --to guava --members most --force --quiet 2>&1 | cut -d: -f1,3-
done
