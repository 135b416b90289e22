echo a >one
bloomery create a.blm -n 1000 --from one --quiet
printf '61\nxx\n' >keys
bloomery create a.blm -n 1000 --from keys -e hex --force
echo "exit $?"
printf 'a\nb\n' | bloomery check a.blm
ls
