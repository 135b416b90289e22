# As many lines as were planned for ten minutes, at once: most are taken for known ones, and it says so.
seq 20000 | bloomery dedup --window 10m -n 20000 -p 0.01 >all 2>note
[ $(wc -l <all) -lt 19000 ] && echo "lines are lost"
grep -o "keys come faster than it was planned for" note
seq 20000 | bloomery dedup --window 10m -n 140000 -p 0.01 >all
[ $(wc -l <all) -gt 19500 ] && echo "few are lost"
