# Then no number of keys follows from the bits.
seq 1000 >keys
bloomery create a.blm -m 64 -k 3 --seed 1 --from keys --quiet
bloomery create b.blm --like a.blm --quiet
bloomery merge c.blm a.blm b.blm
