bloomery create a.blm -n 1000 --seed 1 --quiet
printf '\377' | dd of=a.blm bs=1 seek=8 conv=notrunc 2>/dev/null
bloomery info a.blm
