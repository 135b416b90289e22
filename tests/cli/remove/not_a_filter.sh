echo precious >a.txt
bloomery remove a.txt </dev/null
