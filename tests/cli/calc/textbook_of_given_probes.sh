# The textbook's row keeps to the rate, at the probes that were asked for.
bloomery calc -n 1000000 -p 0.01 -k 3 | grep -E 'rate|textbook'
