# What create refuses is marked.
bloomery calc -n 9821 --memory 159
bloomery create a.blm -n 9821 --memory 159 2>&1
bloomery calc -n 1e6 -m 1e3 --kind blocked
bloomery create a.blm -n 1e6 -m 1e3 --kind blocked 2>&1
bloomery calc -n 13 -k 1
bloomery create a.blm -n 13 -k 1 2>&1
# A lax rate that was asked for is kept.
bloomery calc -n 1000 --memory 80 -p 85% --kind classic | sed -n 3,5p
rm -f a.blm
bloomery create a.blm -n 1000 --memory 80 -p 85% --kind classic 2>&1
bloomery calc -n 1e6 -m 1e6 --kind classic --json | grep fits
bloomery calc -n 9821 --memory 159 --kind blocked --json | grep fits
