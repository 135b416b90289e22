# How far zstd gets depends on its version: sizes are left out.
exec 2>words
bloomery create old.blm -n 100000 --seed 7 --quiet
seq 50000 | bloomery add old.blm --quiet
cp old.blm new.blm
seq 50001 51000 | bloomery add new.blm --quiet
bloomery diff --quiet old.blm new.blm >delta
mkfifo pipe answers
bloomery check old.blm <pipe >answers &
exec 3>pipe
exec 4<answers
echo 51000 >&3
echo 50000 >&3
read -r line <&4
echo "$line"
bloomery patch old.blm <delta
echo 49999 >&3
read -r line <&4
echo "$line"
exec 3>&-
wait
echo 51000 | bloomery check old.blm
sed -E 's/[0-9.]+ (bytes|KiB) for/SIZE for/; s/with [0-9.]+ (bytes|KiB)/with SIZE/' words
