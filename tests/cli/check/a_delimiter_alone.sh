bloomery create a.blm -n 5 --quiet
echo 'a,b' | bloomery add a.blm -d ,
echo 'a,b' | bloomery add a.blm -d , -f 2
printf 'x\tb\n' | bloomery check a.blm -f 2
