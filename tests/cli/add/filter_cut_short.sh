bloomery create a.blm -n 1e5 --quiet
head -c 20000 a.blm >b.blm
echo a | bloomery add b.blm
