seq 1000 >keys
bloomery create a.blm -n 1000 --seed 7 --from keys --quiet
bloomery convert a.blm b.blm
bloomery convert a.blm b.blm --to nonsense 2>&1 | sed 's/: use .*//'
bloomery convert a.blm b.raw --to raw
echo $?
