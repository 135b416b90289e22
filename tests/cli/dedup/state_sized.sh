printf 'a\nb\n' | bloomery dedup --state seen.blm -n 1000 -p 0.001
printf 'a\nc\n' | bloomery dedup --state seen.blm -n 1000 -p 0.001
printf 'a\nd\n' | bloomery check -v seen.blm
