seq 1000 >keys
bloomery create a.blm -n 1000 --seed 7 --from keys --quiet
head -900 keys >some
bloomery convert a.blm a.guava --to guava --members some
code=$?
ls
exit $code
