bloomery create a.blm -n 1000 --quiet
echo a | bloomery add a.blm --quiet
bloomery create a.blm -n 5000
echo "exit $?"
echo a | bloomery check a.blm
bloomery create a.blm -n 5000 --force
echo a | bloomery check -c a.blm
