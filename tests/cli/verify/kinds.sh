seq 1000 >keys
for k in blocked counting scalable; do
    bloomery create $k.blm -n 1000 --kind $k --seed 7 --from keys --quiet
    bloomery verify $k.blm --members keys --trials 100000
    echo "exit $?"
done
