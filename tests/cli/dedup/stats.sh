seq 1000 >n
cat n n | bloomery dedup -n 1000 -p 1e-12 --stats 2>&1 >/dev/null | grep -Ev '^(seconds|lines/s|memory) '
