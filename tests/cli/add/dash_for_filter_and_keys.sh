# The filter takes all of it, so that no keys would come.
seq 5 >keys
bloomery create a.blm -n 10 --kind counting --from keys --quiet
bloomery add - - <a.blm | wc -c
bloomery add - keys - <a.blm | wc -c
bloomery remove - - <a.blm | wc -c
