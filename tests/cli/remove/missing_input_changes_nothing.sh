printf "%s\n" a b c c >keys
bloomery create a.blm -n 1000 -p 1e-6 --kind counting --from keys --quiet
echo a >one
bloomery remove a.blm one missing
code=$?
bloomery check a.blm one
exit $code
