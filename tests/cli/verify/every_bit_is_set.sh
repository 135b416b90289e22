# All of them say that nobody knows how many keys it has.
bloomery create f --kind classic -n 100 --seed 1 --quiet
seq 30000 | bloomery add f
bloomery info f | grep keys
bloomery verify f --trials 1000
bloomery verify f --trials 1000 --json | grep advice
