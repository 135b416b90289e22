seq 1000 >keys
bloomery create a.blm -n 1000 --seed 7 --from keys --quiet
bloomery verify a.blm --members /dev/null
bloomery verify a.blm --members nothing
bloomery verify a.blm --absent /tmp
