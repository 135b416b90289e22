printf 'a\nb\na\n' >log
bloomery dedup log >>log
echo "exit $?"
bloomery dedup <log >>log
echo "exit $?"
cat log
