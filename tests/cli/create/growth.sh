bloomery create f --scheme redisbloom -n 100 -p 0.01 --growth 4 --quiet
bloomery info f | grep ' planned '
seq 600 | bloomery add f --quiet
bloomery info --json f | grep -c '"capacity": 400'
bloomery create g -n 100 --growth 4
