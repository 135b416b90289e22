# With descriptor 1 closed, the state file must not become standard output.
printf 'a\nb\n' | bloomery dedup --state seen.blm >&-
echo "exit $?"
printf 'a\nb\n' | bloomery dedup --state seen.blm
