# The user's rate goes before the file's: looser, it lets a filter pass that has too many keys;
# stricter, it refuses one that keeps its promise.
seq 2000 | bloomery create over.blm -n 1000 --seed 7 --from - --quiet 2>/dev/null
seq 1000 | bloomery create good.blm -n 1000 --seed 7 --from - --quiet
bloomery verify over.blm --rate 0.2
echo "exit $?"
bloomery verify good.blm --rate 0.001
echo "exit $?"
seq 1001 3000 | bloomery verify good.blm --absent - -p 0.02
echo "exit $?"
