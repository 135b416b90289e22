bloomery create a.blm -n 1000 --kind counting --seed 7 --quiet
bloomery create b.blm --like a.blm --quiet
echo one | bloomery add a.blm --quiet
echo one | bloomery add b.blm --quiet
bloomery merge c.blm a.blm b.blm
echo one | bloomery remove c.blm --quiet
echo one | bloomery check -c c.blm
echo one | bloomery remove c.blm --quiet
echo one | bloomery check -c c.blm
