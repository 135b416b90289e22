bloomery create a.blm -n 1000 -p 1e-6 --quiet
printf '616263,x\n' | bloomery add a.blm -e hex -f 1 -d ,
printf 'abc\n616263\n' | bloomery check a.blm
printf 'YWJj\n' | bloomery check a.blm -e base64
