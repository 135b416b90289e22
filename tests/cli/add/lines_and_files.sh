bloomery create a.blm -n 1000 -p 1e-6 --quiet
printf 'a\nb\n' >one
printf 'b\nc' >two
bloomery add a.blm one two
printf 'd\n' | bloomery add a.blm
printf 'e\n' | bloomery add a.blm --quiet
printf '%s\n' a b c d e f | bloomery check a.blm
