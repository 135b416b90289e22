bloomery create seen.blm -n 1000 --kind counting --quiet
printf 'a\nb\na\n' | bloomery dedup --state seen.blm
printf 'a\nc\n' | bloomery dedup --state seen.blm
