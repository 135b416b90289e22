# Probes in step: with as many keys as planned the rate is five hundred times the promised one. That is no chance,
# and no key too many.
seq 10 | bloomery create --scheme dcso01 -n 10 -p 1e-6 --from - f.dcso
echo more | bloomery add f.dcso
bloomery info f.dcso | grep -E 'planned|rate now'
bloomery verify f.dcso --trials 1e6 | grep -E 'rate|promise'
bloomery create --scheme redisbloom -n 100 -p 1e-6 f.rb
seq 100 | bloomery add f.rb
bloomery verify f.rb --trials 1e6
