# More than one commit's worth of keys, repeated within and across runs.
seq 70000 >n
cat n n | bloomery dedup --state seen.blm >one
cat n n | bloomery dedup --state seen.blm >two
seq 100000 | bloomery dedup --state seen.blm >three
cmp n one && wc -l <two && wc -l <three
