bloomery create old.blm -n 100000 --seed 7 --quiet
seq 50000 | bloomery add old.blm --quiet
cp old.blm new.blm
seq 50001 51000 | bloomery add new.blm --quiet
bloomery diff --quiet old.blm new.blm >delta
seq 60000 60010 | bloomery add old.blm --quiet
cp old.blm before.blm
bloomery patch old.blm <delta
echo "exit $?" >&2
cmp old.blm before.blm && echo untouched
bloomery create other.blm -n 1000 --quiet
bloomery patch other.blm <delta
