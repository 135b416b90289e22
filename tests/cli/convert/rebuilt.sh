seq 1000 >keys
bloomery create a.blm -n 1000 --seed 7 --from keys --quiet
for f in guava go spark dcso; do
    bloomery convert a.blm a.$f --to $f --members keys
    bloomery check -c a.$f keys
    bloomery info a.$f | grep -e scheme -e format
done
