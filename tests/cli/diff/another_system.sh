# How far zstd gets depends on its version: sizes are left out.
exec 2>words
bloomery create old.guava -n 1000 -p 0.01 --scheme guava64 --quiet
seq 500 | bloomery add old.guava --quiet
cp old.guava new.guava
seq 501 600 | bloomery add new.guava --quiet
cp old.guava replica.guava
bloomery diff old.guava new.guava >delta
bloomery patch replica.guava <delta
cmp replica.guava new.guava && echo same
sed -E 's/[0-9.]+ (bytes|KiB) for/SIZE for/; s/with [0-9.]+ (bytes|KiB)/with SIZE/' words
