bloomery create a.blm -n 1e5 --quiet --seed 7
printf 'XX' | dd of=a.blm bs=1 seek=60 conv=notrunc 2>/dev/null
echo a | bloomery add a.blm
