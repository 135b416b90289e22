bloomery create f -n 10 -p 0.01 --quiet
echo 00 | bloomery bip37 match f
