bloomery | head -n 1
bloomery >/dev/null
