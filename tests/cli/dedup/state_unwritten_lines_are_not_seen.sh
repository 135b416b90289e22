# A full disk: nothing was written, so nothing was seen.
printf 'a\nb\n' | bloomery dedup --state seen.blm >/dev/full
echo "exit $?"
printf 'a\nb\n' | bloomery dedup --state seen.blm
