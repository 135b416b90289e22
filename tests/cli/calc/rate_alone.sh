bloomery calc -p 0.01
echo "exit $?" >&2
bloomery calc -p 0.01 -k 7
