seq 1000 >keys
bloomery create a.blm -n 1000 --seed 7 --from keys --quiet
seq 500 1500 >others
bloomery convert a.blm a.guava --to guava --members others
code=$?
ls
exit $code
