bloomery create seen.guava --scheme guava -n 1000 -p 1e-6 --quiet
printf 'a\nb\na\n' | bloomery dedup --state seen.guava
echo --
printf 'b\nc\n' | bloomery dedup --state seen.guava --stats 2>stats
grep -E '^(lines|unique|filter) ' stats
