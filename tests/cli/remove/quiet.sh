printf "%s\n" a b c c >keys
bloomery create a.blm -n 1000 -p 1e-6 --kind counting --from keys --quiet
printf 'a\n' | bloomery remove a.blm --quiet
