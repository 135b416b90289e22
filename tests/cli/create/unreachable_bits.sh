bloomery create f.blm --scheme polynomial -m 24
echo key | bloomery add f.blm
