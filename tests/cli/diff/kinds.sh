# How far zstd gets depends on its version: sizes are left out.
exec 2>words
for k in classic blocked counting scalable; do
    bloomery create old.blm -n 1000 --kind $k --seed 7 --force --quiet
    seq 500 | bloomery add old.blm --quiet
    cp old.blm new.blm
    seq 501 5000 | bloomery add new.blm --quiet
    cp old.blm replica.blm
    bloomery diff --quiet old.blm new.blm | bloomery patch replica.blm
    seq 5000 | bloomery check -c replica.blm
    bloomery diff --quiet new.blm replica.blm | bloomery patch new.blm
done
sed -E 's/[0-9.]+ (bytes|KiB) for/SIZE for/; s/with [0-9.]+ (bytes|KiB)/with SIZE/' words
