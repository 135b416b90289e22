echo 'precious' >a.txt
bloomery create a.txt -n 1000
code=$?
cat a.txt
exit $code
