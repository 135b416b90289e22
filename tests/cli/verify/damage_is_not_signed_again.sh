# What writes a new file from a damaged one would give the damage good checksums.
bloomery create a.blm -n 1e5 --seed 1 --quiet
seq 1000 | bloomery add a.blm --quiet
cp a.blm old.blm
cp a.blm damaged.blm
printf '\377\377\377\377' | dd of=damaged.blm bs=1 seek=70000 conv=notrunc 2>/dev/null
bloomery verify damaged.blm | head -1
bloomery convert damaged.blm out --to native
bloomery convert - out --to native <damaged.blm
bloomery merge out old.blm damaged.blm
bloomery merge out damaged.blm old.blm
bloomery intersect out damaged.blm old.blm
bloomery diff old.blm damaged.blm >delta
bloomery diff damaged.blm old.blm >delta
[ -e out ] || echo "no file was made"
wc -c <delta
