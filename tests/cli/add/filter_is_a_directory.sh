mkdir a
echo a | bloomery add a
