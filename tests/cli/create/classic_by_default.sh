# -m and -k without a kind make classic, whatever else is given but --lines.
bloomery create a.blm -m 10000 -k 4
bloomery create b.blm -m 10000 -k 4 -n 1000
bloomery create c.blm -m 10000 -k 4 --lines 2
bloomery create d.blm -m 10000 -n 1000
bloomery create --help | grep -A2 -e --kind
