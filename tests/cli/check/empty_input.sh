seq 10 >keys
bloomery create a.blm -n 1000 -p 1e-6 --from keys --quiet
bloomery check a.blm </dev/null
