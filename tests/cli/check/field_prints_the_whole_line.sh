seq 10 >keys
bloomery create a.blm -n 1000 -p 1e-6 --from keys --quiet
printf '1 5 a\n2 50 b\n3 10 c\n' | bloomery check a.blm -f 2 -d ' '
