echo 00112233 | bloomery create w.bip37 --scheme bip37 -n 10 -p 0.01 --seed 5 --variant 2 -e hex --from -
tail -c 9 w.bip37 | od -An -tx1
bloomery create full.rb --scheme redisbloom -n 10 -p 0.01 --variant 13
seq 1 20 | bloomery add full.rb
