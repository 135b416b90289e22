# A kind that there is, but not here.
bloomery calc -n 10 --kind cascade
for kind in counting scalable window cuckoo none; do
    bloomery build o.blm --include none --kind $kind
done
for kind in static cascade none; do
    bloomery create o.blm -n 10 --kind $kind
done
