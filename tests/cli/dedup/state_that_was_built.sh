# A filter that was built at once cannot remember lines: said before any is printed.
seq 10 >keys
bloomery build static.blm --include keys --seed 1 --kind static --quiet
seq 11 20 | bloomery build cascade.blm --include keys --exclude - --seed 1 --quiet
seq 5 15 | bloomery dedup --state static.blm
seq 5 15 | bloomery dedup --state cascade.blm
