# Spark widens an Integer to a Long.
seq -1 1 >keys
bloomery create f --scheme spark -n 100 -e int64 --from keys --quiet
bloomery check -c f -e int32 keys
bloomery create g --scheme spark -n 100 -e int32 --from keys --quiet
cmp f g && bloomery check -c g -e int64 keys
