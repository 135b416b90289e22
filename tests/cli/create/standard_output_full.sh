bloomery create - -n 1000 >/dev/full
