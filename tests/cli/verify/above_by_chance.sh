# Half of all filters are a little above the promised rate: this one is, and a million trials see it.
seq 1000 | bloomery create a.blm --kind classic -n 1000 -p 0.01 --seed 3 --from - --quiet
bloomery verify a.blm
bloomery verify a.blm --json | grep -E '"holds"|"good"'
# Who asks for a rate asks this filter.
bloomery verify a.blm --rate 0.01
