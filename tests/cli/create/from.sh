seq 1000 >keys
bloomery create a.blm -n 1000 -p 1e-6 --seed 1 --from keys
bloomery check -c a.blm keys
seq 1001 1010 | bloomery check a.blm
