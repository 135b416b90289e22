# A bip37 filter without probes: no bit of it is set.
for i in 1 2; do seq 3 | bloomery create $i --scheme bip37 -n 5 -p 0.5 --seed 7 --from - --quiet; done
bloomery merge all 1 2
bloomery intersect both 1 2
bloomery info all --json | grep -E '"(fill|saturated)"'
