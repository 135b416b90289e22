bloomery create a.blm -n 1000 --seed 42 --quiet
bloomery create b.blm -n 1000 --seed 0x2a --quiet
bloomery create c.blm -n 1000 --seed 43 --quiet
# Bytes 33 to 48 are random in each file; no other byte of the header differs, but its checksum.
cmp -s a.blm b.blm || echo two files
cmp -l a.blm b.blm | awk '$1 < 33 || ($1 > 48 && $1 < 505)'
for n in a b c; do seq 100 | bloomery add $n.blm --quiet; done
seq 101 1000 >others
bloomery check a.blm others >a.out
bloomery check b.blm others >b.out
cmp a.out b.out && echo same
bloomery create d.blm -n 1000 --seed 0x0123456789abcdef0123456789abcdef --hash siphash
