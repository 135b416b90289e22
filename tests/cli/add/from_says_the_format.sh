# needs: ZLIB ZSTD
# 64 bits for 22 keys are not what dcso01 plans, so that the file could be bip37's as well.
bloomery create a --scheme dcso01 -m 64 -k 3 -n 22
echo x | bloomery add a
echo x | bloomery add --from dcso01 a
echo x | bloomery check a
echo x | bloomery check --from dcso01 a
bloomery create b --like a --like-from dcso01 --quiet
echo y | bloomery add --from dcso01 b --quiet
bloomery compare a b
bloomery compare --from dcso01 a b | tail -n 5
bloomery merge --from dcso01 c a b
printf 'x\ny\nz\n' | bloomery check --from dcso01 c
bloomery intersect --from dcso01 d a b --quiet
bloomery diff --from dcso01 a c >delta
bloomery patch --from dcso01 a <delta
printf 'x\ny\nz\n' | bloomery check --from dcso01 a
