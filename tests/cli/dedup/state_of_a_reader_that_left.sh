# The reader takes one line and goes; what it never got comes in the next run.
seq 130000 >n
bloomery dedup --state seen.blm n | head -n 1
bloomery dedup --state seen.blm n >rest
[ "$(wc -l <rest)" -gt 100000 ] && tail -n 1 rest
