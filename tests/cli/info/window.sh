bloomery create a.blm --last 70000 --seed 1
seq 100000 | bloomery add a.blm
bloomery info --plot a.blm | grep -v kernel
bloomery info --json a.blm | sed -n "/\"window\": {/,/fill/p"
