# How far zstd gets depends on its version: sizes are left out.
exec 2>words
bloomery create 0.blm -n 1000 --seed 7 --quiet
for i in 1 2 3; do
    cp $((i - 1)).blm $i.blm
    echo key $i | bloomery add $i.blm --quiet
    bloomery diff --quiet $((i - 1)).blm $i.blm >$i.delta
done
bloomery patch 0.blm <2.delta
for i in 1 2 3; do bloomery patch 0.blm <$i.delta; done
printf 'key 1\nkey 2\nkey 3\nkey 4\n' | bloomery check 0.blm
sed -E 's/[0-9.]+ (bytes|KiB) for/SIZE for/; s/with [0-9.]+ (bytes|KiB)/with SIZE/' words
