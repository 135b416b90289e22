bloomery create old.blm -n 100000 --seed 7 --quiet
seq 50000 | bloomery add old.blm --quiet
cp old.blm new.blm
seq 50001 51000 | bloomery add new.blm --quiet
bloomery diff --quiet old.blm new.blm >delta
cp old.blm before.blm
printf '\125\252' | dd of=delta bs=1 seek=2000 conv=notrunc 2>/dev/null
bloomery patch old.blm <delta 2>words
code=$?
cmp old.blm before.blm && echo untouched
sed "s|input: .*: get|input: ...: get|" words
exit $code
