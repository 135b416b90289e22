# needs: ZSTD
bloomery create old.blm -n 100000 --seed 7 --quiet
seq 50000 | bloomery add old.blm --quiet
cp old.blm new.blm
seq 50001 51000 | bloomery add new.blm --quiet
bloomery diff --quiet old.blm new.blm >delta
head -c 1000 delta | bloomery patch old.blm
code=$?
ls
exit $code
