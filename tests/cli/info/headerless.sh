seq 1000 >keys
bloomery create a.blm -n 1000 --seed 7 --from keys --quiet
bloomery convert a.blm a.raw --to raw --scheme go --members keys --quiet
bloomery info --from raw a.raw
echo "without a scheme: $?"
bloomery info --from raw --from-scheme go -m 9586 -k 7 a.raw | grep -v ' kernel '
