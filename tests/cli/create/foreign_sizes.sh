# needs: MD
# A size alone is planned at the rate that a number of keys alone gets.
for scheme in guava spark go dcso bip37 byteslot md5-cat md5-or bkdr js; do
    bloomery create $scheme -m 8192 --scheme $scheme
    bloomery create $scheme --memory 4K --scheme $scheme --force
done
for scheme in md5-cat bkdr; do
    bloomery create $scheme -m 8192 -p 5% --scheme $scheme --force
    bloomery create $scheme -m 8192 -n 1000 --scheme $scheme --force
done
bloomery create go -m 8192 -k 1 --scheme go --force
bloomery create rb --memory 4K --scheme redisbloom
bloomery create go -n 1000 --memory 80 -p 1% --scheme go --force
