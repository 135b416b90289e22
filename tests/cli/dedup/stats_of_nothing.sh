bloomery dedup --stats </dev/null 2>&1 | grep -Ev '^(seconds|lines/s|memory) '
