printf 'a\nb\n' | bloomery dedup --state seen.blm
echo --
printf 'b\nc\nb\nc\n' | bloomery dedup --state seen.blm
echo --
printf 'a\nb\nc\n' | bloomery dedup --state seen.blm
ls
