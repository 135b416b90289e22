echo 'precious' >a.txt
echo a | bloomery add a.txt
code=$?
cat a.txt
exit $code
