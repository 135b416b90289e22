bloomery create a.blm -n 1000 --quiet
printf 'a\n' >one
bloomery add a.blm one missing
code=$?
bloomery check -c a.blm one
exit $code
