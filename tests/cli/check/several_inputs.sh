seq 10 >keys
bloomery create a.blm -n 1000 -p 1e-6 --from keys --quiet
seq 9 11 >one
seq 1 2 >two
bloomery check a.blm one two keys -c
bloomery check one two a.blm
