seq 1000 | bloomery create a.blm -n 1000 --kind counting --seed 7 --from - --quiet
bloomery convert a.blm b.blm --to native --plain
seq 1000 | bloomery check -c b.blm
seq 1001 100000 | bloomery check a.blm > a.maybe
seq 1001 100000 | bloomery check b.blm | cmp - a.maybe
bloomery info b.blm | sed -n '2,5p'
bloomery verify b.blm | head -1
# A copy that follows the original.
seq 1 500 | bloomery remove a.blm --quiet
bloomery convert a.blm c.blm --to native --plain --quiet
bloomery diff --quiet b.blm c.blm > delta
bloomery patch b.blm < delta 2>/dev/null
seq 1 500 | bloomery check -c b.blm
seq 501 1000 | bloomery check -c b.blm
bloomery merge d.blm b.blm c.blm --quiet
