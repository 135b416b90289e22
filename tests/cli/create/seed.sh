bloomery create a.blm -n 1000 --seed 42 --quiet
bloomery create b.blm -n 1000 --seed 0x2a --quiet
bloomery create c.blm -n 1000 --seed 43 --quiet
cmp a.blm b.blm && echo same
for n in a b c; do seq 100 | bloomery add $n.blm --quiet; done
seq 101 1000 >others
bloomery check a.blm others >a.out
bloomery check b.blm others >b.out
cmp a.out b.out && echo same
bloomery create d.blm -n 1000 --seed 0x0123456789abcdef0123456789abcdef --hash siphash
