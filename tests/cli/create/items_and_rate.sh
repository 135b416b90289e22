bloomery create a.blm -n 1e6 -p 0.01
printf 'x\n' | bloomery check a.blm
