# By time, more keys in one age than its share: what is said, and what to do.
bloomery create a.blm --for 10000h -n 7000 --seed 1
seq 3500 | bloomery add a.blm
bloomery info a.blm | grep -e '^  ages' -e burst -e 'rate now'
bloomery info a.blm --json | grep -e share -e busiest
