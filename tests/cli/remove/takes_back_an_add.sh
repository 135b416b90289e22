printf "%s\n" a b c c >keys
bloomery create a.blm -n 1000 -p 1e-6 --kind counting --from keys --quiet
printf 'a\nc\n' | bloomery remove a.blm
printf 'a\nb\nc\n' | bloomery check a.blm
