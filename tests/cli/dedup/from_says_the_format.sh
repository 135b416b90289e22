# 64 bits for 22 keys are not what dcso01 plans, so that the file could be bip37's as well.
bloomery create a --scheme dcso01 -m 64 -k 3 -n 22
printf 'x\ny\nx\n' | bloomery dedup --state a
printf 'x\ny\nx\n' | bloomery dedup --from dcso01 --state a
printf 'y\nz\n' | bloomery dedup --from dcso01 --state a -D
echo x | bloomery dedup --from dcso01
echo x | bloomery dedup --from dcso01 --state new
ls
