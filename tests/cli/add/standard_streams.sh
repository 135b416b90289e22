printf 'a\n' >one
printf 'b\n' >two
bloomery create - -n 10 -p 1e-6 --from one --quiet | bloomery add - two >a.blm
printf 'a\nb\nc\n' | bloomery check a.blm
