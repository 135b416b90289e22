printf 'a\nb\na\n' | bloomery dedup -D --state seen.blm
echo --
printf 'b\nc\n' | bloomery dedup -D --state seen.blm
