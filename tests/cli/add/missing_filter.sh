echo a | bloomery add a.blm
code=$?
ls
exit $code
