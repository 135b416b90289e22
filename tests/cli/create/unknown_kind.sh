bloomery create a.blm -n 1000 --kind fast
bloomery create a.blm -n 1000 --kind static
bloomery create a.blm -n 1000 --kind cascade
