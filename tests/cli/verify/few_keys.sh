# As many keys as were planned, in lines that some have more of: by chance the rate is several times the promise.
seq 50 | bloomery create a.blm -n 50 -p 1e-9 --seed 91 --from - --quiet
bloomery verify a.blm --trials 1000
bloomery info a.blm | grep 'rate now'
seq 100000 | bloomery create a.blm -n 1e5 -p 1e-9 --lines 1 --seed 9 --from - --force --quiet
bloomery verify a.blm --trials 1000
seq 20 | bloomery create a.blm --last 20 -p 1e-6 --seed 125 --from - --force --quiet
bloomery verify a.blm --trials 1000
