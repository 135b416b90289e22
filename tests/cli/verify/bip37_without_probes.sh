# Its maths gives no probes: it asks for no bit, and none is set.
bloomery create f --scheme bip37 -n 5 -p 0.5 --seed 1 --quiet
bloomery verify f --trials 1000
