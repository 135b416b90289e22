bloomery dedup --state seen.blm </dev/null
echo a | bloomery dedup --state seen.blm
