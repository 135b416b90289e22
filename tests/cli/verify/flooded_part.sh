bloomery create a.blm -n 100000 --seed 7 --quiet
seq 100000 | bloomery add a.blm --quiet
head -c 8192 /dev/zero | tr '\0' '\377' | dd of=a.blm bs=4096 seek=8 conv=notrunc 2>/dev/null
bloomery verify a.blm --trials 100000 | grep -e checksums -e fill
