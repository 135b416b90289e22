# Adds are counted where they were new, and in a filter past its plan many are not: that is no
# pollution, however full it got. Said of fewer keys than came, the same bits are.
for k in classic blocked counting; do
    for n in 200000 600000; do
        seq $n | bloomery create a.blm --kind $k -n 100000 --seed 7 --from - --force --quiet 2>/dev/null
        echo "$k $(bloomery verify a.blm --trials 1000 | grep fill)"
    done
done
seq 300000 | bloomery create a.dcso --scheme dcso -n 100000 -p 0.01 --from - --quiet 2>/dev/null
bloomery verify a.dcso --trials 1000 | grep fill
printf '\240\206\1\0\0\0\0\0' | dd of=a.dcso bs=1 seek=40 conv=notrunc 2>/dev/null
bloomery verify a.dcso --trials 1000 | grep fill
