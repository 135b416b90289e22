bloomery create a.blm -n 1000 --kind counting --seed 7 --quiet
bloomery create b.blm --like a.blm --quiet
printf 'one\none\ntwo\n' | bloomery add a.blm --quiet
echo one | bloomery add b.blm --quiet
bloomery intersect c.blm a.blm b.blm
printf 'one\ntwo\n' | bloomery check c.blm
echo one | bloomery remove c.blm --quiet
echo one | bloomery check -c c.blm
