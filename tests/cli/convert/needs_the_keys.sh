seq 1000 >keys
bloomery create a.blm -n 1000 --seed 7 --from keys --quiet
bloomery convert a.blm a.guava --to guava
bloomery convert a.blm b.blm --to native --kind classic
bloomery convert a.blm b.blm --to native --scheme go
bloomery convert a.blm b.blm --to native -n 2000
code=$?
ls
exit $code
