# More lines a key save space; the number is kept.
bloomery create one.blm -n 1e6 -p 1e-3 --kind blocked
bloomery create two.blm -n 1e6 -p 1e-3 --kind blocked --lines 2
bloomery info --json two.blm | grep '"lines"'
bloomery create x.blm -n 1e6 --kind classic --lines 2
bloomery create x.blm -n 1e6 --kind blocked --lines 4
bloomery create x.blm --like two.blm --lines 1
