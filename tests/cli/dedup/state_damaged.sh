echo a | bloomery dedup --state seen.blm -n 1000
head -c 100 seen.blm >cut.blm
echo a | bloomery dedup --state cut.blm
