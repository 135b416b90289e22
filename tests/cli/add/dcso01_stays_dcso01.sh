# The first byte and the length are those of a bip37 filter of 22 bytes.
bloomery create a --scheme dcso01 -n 22 -p 0.5
echo x | bloomery add a
echo x | bloomery check a
bloomery info a | grep -E ' (scheme|format) '
