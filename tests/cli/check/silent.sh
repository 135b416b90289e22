seq 10 >keys
bloomery create a.blm -n 1000 -p 1e-6 --from keys --quiet
seq 8 12 | bloomery check -q a.blm; echo $?
seq 11 12 | bloomery check -q a.blm; echo $?
seq 11 12 | bloomery check -qv a.blm; echo $?
seq 8 12 | bloomery check -qc a.blm; echo $?
