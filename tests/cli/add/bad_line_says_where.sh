bloomery create a.blm -n 1000 -p 1e-6 --quiet
printf '61\n62\nzz\n63\n' >keys
bloomery add a.blm keys -e hex
code=$?
printf 'a\nb\nc\n' | bloomery check a.blm
exit $code
