# blocked; classic where bits and probes are both given, but not with lines; else the scheme's.
bloomery create a.blm -n 1000
bloomery create b.blm -m 9600
bloomery create c.blm -m 9600 -k 4
bloomery create d.blm -m 9600 -k 4 --lines 2
bloomery create e.blm -m 9600 -k 4 --kind blocked
bloomery create f.go -n 1000 -p 0.01 --scheme go
