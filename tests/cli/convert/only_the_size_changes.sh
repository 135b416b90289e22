# With -n the rest stays: what a window remembers, the hash and a fixed seed, how it grows.
seq 300 >a
show() { bloomery info "$1" | grep -E '^  (window|scheme|seed|planned)'; }
bloomery create w --for 10000h -n 300 --from a --quiet
bloomery convert w w2 --to native --members a -n 1000 --quiet && show w2
bloomery create l --last 400 --slack 5% --from a --quiet
bloomery convert l l2 --to native --members a -n 1000 --quiet && show l2
bloomery create s -n 300 --hash siphash --seed 77 --from a --quiet
bloomery convert s s2 --to native --members a -n 1000 --quiet && show s2
bloomery create c -n 300 --kind cuckoo --growth 2 --from a --quiet
bloomery convert c c2 --to native --members a -n 1000 --quiet && show c2
bloomery create g -n 300 --kind scalable --growth 3 --from a --quiet
bloomery convert g g2 --to native --members a -n 1000 -p 0.001 --quiet && show g2
bloomery create k --scheme bkdr -n 300 --seed 131 --from a --quiet
bloomery convert k k2 --to native --scheme bkdr --members a -n 1000 --quiet && show k2
