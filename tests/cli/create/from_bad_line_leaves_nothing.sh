printf '61\nxx\n' >keys
bloomery create a.blm -n 1000 --from keys -e hex
code=$?
ls
exit $code
