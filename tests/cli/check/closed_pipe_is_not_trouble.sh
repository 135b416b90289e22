seq 10 >keys
bloomery create a.blm -n 1000 -p 1e-6 --from keys --quiet
{ yes 5 | head -n 1000000 | bloomery check a.blm; echo "exit $?" >&2; } | head -n 1
