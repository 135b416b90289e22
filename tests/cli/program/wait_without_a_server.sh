# --wait is for filters on a server.
bloomery create a.blm -n 10 --kind counting --quiet
bloomery create o.blm -n 10 --wait 3
bloomery create - -n 10 --wait 3
seq 3 | bloomery add a.blm --wait 1
seq 3 | bloomery remove a.blm --wait 1
bloomery merge o.blm a.blm a.blm --wait 1
seq 3 | bloomery dedup --wait 1
seq 3 | bloomery dedup --wait 1 --state s.blm
ls
# Here it may be one.
bloomery add --wait 1 redis://127.0.0.1:1/x a.blm
