# The size that the rate needs is the size it has.
bloomery calc -n 133 -k 8 --kind window --json | grep -E '"(bytes|fits|bytes_needed)"' | tail -3
