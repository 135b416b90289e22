# A seed is refused whole, and in words that do not turn it into another number.
for scheme in spark2 bip37 bkdr; do
    for seed in 0x10000000000000005 -2147483649 -2147483648 4294967296; do
        bloomery create f --scheme $scheme -n 1000 --seed=$seed --force 2>&1 | sed "s/^/$seed: /"
    done
done
printf 12345678 > bits
echo key | bloomery check bits --from raw --from-scheme spark2 -k 3 --seed 0x10000000000000005
# Nor is one that an old file has said to be another.
bloomery create s --scheme spark2 -n 9 --seed 4294967291 --quiet
bloomery convert s n --to native --quiet
for seed in -5 4294967291 5 0x100000000fffffffb; do echo key | bloomery check n --seed=$seed -v; done
