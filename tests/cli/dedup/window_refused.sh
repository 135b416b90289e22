bloomery dedup --window 10m < /dev/null
bloomery dedup --window 0 < /dev/null
bloomery dedup --window ten < /dev/null
bloomery dedup --window 5 -n 5 < /dev/null
