# Each forgets by its own count of adds. Keys of both are in the same ages, and these are too full.
bloomery create a --last 1000 --seed 1 --quiet
seq 500 | bloomery add a --quiet
bloomery create b --like a --quiet
seq 501 1000 | bloomery add b --quiet
bloomery merge m a b
bloomery info m | grep -e burst -e keys -e 'rate now'
bloomery verify m --trials 1000 | grep fill
bloomery create c --like a --quiet
bloomery merge n a c
bloomery info n | grep -e burst -e keys -e 'rate now'
