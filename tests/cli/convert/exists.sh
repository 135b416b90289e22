seq 1000 >keys
bloomery create a.blm -n 1000 --seed 7 --from keys --quiet
echo precious >b.blm
bloomery convert a.blm b.blm --to native
echo "exit $?"
cat b.blm
bloomery convert a.blm b.blm --to native --force
bloomery check -c b.blm keys
