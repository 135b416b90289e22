mkdir seen
echo a | bloomery dedup --state seen
