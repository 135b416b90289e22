bloomery create a.blm -n 1000 --seed 7 --quiet
bloomery create b.blm --like a.blm --quiet
seq 1 300 | bloomery add a.blm --quiet
seq 201 500 | bloomery add b.blm --quiet
echo precious >c.blm
bloomery merge c.blm a.blm b.blm
code=$?
cat c.blm
exit $code
