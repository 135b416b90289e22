# DCSO's files say how many keys there are, and nothing keeps that number from being wrong.
seq 1000 | bloomery create a.dcso -n 1000 -p 0.01 --scheme dcso --from - --quiet
printf '\144\0\0\0\0\0\0\0' | dd of=a.dcso bs=1 seek=40 conv=notrunc 2>/dev/null
bloomery info a.dcso | grep keys
bloomery verify a.dcso --trials 100000
