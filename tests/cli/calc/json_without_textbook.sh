bloomery calc -m 1 -p 1e-9 --json | sed -E 's/("rate": [0-9]\.[0-9]{4})[0-9]+/\1/' # the last digits are libm's
