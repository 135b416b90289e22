seq 100000 >keys
bloomery create a.blm -n 100000 --seed 7 --from keys --quiet
printf '\377\377\377\377' | dd of=a.blm bs=1 seek=50000 conv=notrunc 2>/dev/null
bloomery verify a.blm --trials 100000
