seq 10 >keys
bloomery create a.blm -n 1000 -p 1e-6 --from keys --quiet
printf '5\0006\00077\0' | bloomery check -0 a.blm | od -c
