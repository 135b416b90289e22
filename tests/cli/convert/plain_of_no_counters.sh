bloomery create a.blm -n 1000 -p 0.01 --quiet
bloomery convert a.blm b.blm --to native --plain
echo "exit $?"
bloomery convert a.blm b.blm --to native --plain --kind blocked
