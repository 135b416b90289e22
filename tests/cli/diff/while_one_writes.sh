# How far zstd gets depends on its version: sizes are left out.
exec 2>words
bloomery create old.blm -n 100000 --seed 7 --quiet
seq 50000 | bloomery add old.blm --quiet
cp old.blm new.blm
seq 50001 51000 | bloomery add new.blm --quiet
mkfifo pipe
bloomery add new.blm --quiet <pipe &
exec 3>pipe
echo fresh >&3
until echo fresh | bloomery check -q new.blm; do sleep 0.01; done
bloomery diff old.blm new.blm >delta
exec 3>&-
wait
bloomery patch old.blm <delta
echo fresh | bloomery check -c old.blm
sed -E 's/[0-9.]+ (bytes|KiB) for/SIZE for/; s/with [0-9.]+ (bytes|KiB)/with SIZE/' words
