# Each is shown; one that cannot be read is named, and the others are shown all the same.
seq 100 >keys
for s in 1 2; do bloomery create $s.blm -n 100 --seed $s --from keys --quiet; done
bloomery info 1.blm missing.blm 2.blm | grep -v kernel
bloomery info 1.blm 2.blm >/dev/null; echo $?
bloomery info - - <1.blm
bloomery info 1.blm missing.blm >/dev/null
