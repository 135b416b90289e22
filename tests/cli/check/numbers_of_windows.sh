bloomery create a.blm -n 5 --quiet
printf '1\r\n2\r\n' | bloomery add a.blm -e int64
printf '1\r\n2\r\n' | bloomery add a.blm -e int64 --crlf
printf '1\n2\r\n' | bloomery check a.blm -e int64
printf '1\n2x\n' | bloomery check a.blm -e int64
