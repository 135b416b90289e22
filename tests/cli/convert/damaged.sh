for f in "$(dirname "$0")"/../../golden/guava/bad/*; do
    cp "$f" bad
    bloomery convert bad b.blm --to native --from guava 2>/dev/null && echo "$f was taken"
done
ls
bloomery create a.blm -n 1000 --quiet
dd if=/dev/zero of=a.blm bs=1 seek=100 count=8 conv=notrunc 2>/dev/null
bloomery convert a.blm b.blm --to native
