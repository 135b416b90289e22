# The smallest filter is better than the plan, so far: nothing to warn of.
seq 50 | bloomery dedup -n 1 -p 0.5 | head -n 1
seq 200 | bloomery dedup -n 1 -p 0.01 2>&1 >/dev/null | grep -c 'planned for 1:'
