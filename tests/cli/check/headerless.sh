# Bits without a header are asked in place once --from and its companions say what they are.
seq 1000 >keys
seq 1001 1003 >others
bloomery create a.blm -n 1000 --seed 7 --from keys --quiet
bloomery convert a.blm a.raw --to raw --scheme go --members keys --quiet
bloomery check -c a.raw keys
echo "without --from: $?"
bloomery check -c --from raw a.raw keys
echo "without a scheme: $?"
bloomery check -c --from raw --from-scheme go -m 9586 -k 7 a.raw keys others
bloomery check -q --from raw --from-scheme go -m 9586 -k 7 a.raw others
echo "others: $?"
bloomery check -c --from raw --from-scheme go -m 9586 -k 7 - keys <a.raw
