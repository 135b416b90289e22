printf '1\n2147483648\n3\n' >n
bloomery dedup -e int32 n
