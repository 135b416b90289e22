# Duplicates count once; integers and fields are read as everywhere.
{ seq 1000; seq 500; } >keys
for kind in static classic blocked; do
    bloomery build $kind.blm --include keys --kind $kind --seed 1 -e int64
    bloomery check -c -e int64 $kind.blm keys
done
sed 's/^/x,/' keys >rows
bloomery build fields.blm --include rows -f 2 -d , --seed 1 --quiet
bloomery check -c fields.blm keys
bloomery build one.blm --include keys --kind static --seed 1 --threads 1 --quiet
bloomery build four.blm --include keys --kind static --seed 1 --threads 4 --quiet
bloomery check -c one.blm keys; bloomery check -c four.blm keys
