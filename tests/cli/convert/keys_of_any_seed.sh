# A complete list is taken, whatever the seed makes of its bits.
for n in 10 30; do
    seq $n >all
    head -$((n - 1)) all >most
    for seed in $(seq 60); do
        bloomery create f -n $n --seed $seed --from all --force --quiet
        bloomery convert f g --to guava --members all --force --quiet || echo "$n keys, seed $seed"
        bloomery convert f g --to guava --members most --force --quiet 2>/dev/null && echo "$n - 1 keys, seed $seed"
    done
done
seq 100 >all
cat all all >twice
for kind in cuckoo counting; do
    bloomery create f --kind $kind -n 1000 --seed 1 --from twice --quiet --force
    bloomery convert f g --to guava --members twice --force --quiet
    bloomery convert f g --to guava --members all --force --quiet
    head -60 all | bloomery convert f g --to guava --members - --force --quiet 2>&1 | cut -d, -f1
done
