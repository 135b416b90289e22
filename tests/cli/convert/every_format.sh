# needs: ZLIB JANSSON
# There and back: no key is lost. A cuckoo filter of RedisBloom cannot be made here. Formats that no file can be recognised as are named.
seq 1000 >keys
bloomery create a.blm -n 1000 --seed 7 --from keys --quiet
for f in $(bloomery --names formats | grep -v -x -e raw -e redisbloom-cf -e redisbloom-cf-dump); do
    bloomery convert a.blm a.$f --to $f --members keys --quiet || continue
    bloomery convert a.$f b.blm --to native --force --quiet 2>/dev/null ||
        bloomery convert a.$f b.blm --from $f --to native --force --quiet
    [ "$(bloomery check -c b.blm keys)" = 1000 ] || echo "$f lost keys"
done
