# There is no option for how lines are encoded.
bloomery create w.bip37 --scheme bip37 -n 10 --quiet
printf 'abcd\r\n' | bloomery bip37 match w.bip37
