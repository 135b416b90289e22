# How far zstd gets depends on its version: sizes are left out.
exec 2>words
bloomery create old.blm -n 100000 --seed 7 --quiet
seq 50000 | bloomery add old.blm --quiet
cp old.blm new.blm
seq 50001 51000 | bloomery add new.blm --quiet
bloomery diff new.blm old.blm --quiet | bloomery patch new.blm
bloomery compare new.blm old.blm | tail -1
sed -E 's/[0-9.]+ (bytes|KiB) for/SIZE for/; s/with [0-9.]+ (bytes|KiB)/with SIZE/' words
