# Of a cuckoo filter each copy is a fingerprint, and of a window each renewal an add: not keys.
seq 100 >keys
cat keys keys keys >thrice
bloomery create c --kind cuckoo -n 1000 --from thrice --seed 1 --quiet
bloomery info c | grep keys
for i in $(seq 100); do seq 30; done >again
bloomery create w --for 10000h -n 210 --from again --seed 1 --quiet
bloomery info w | grep -e keys -e burst
for i in $(seq 20); do seq 100; done >again
bloomery create w2 --for 10000h -n 210 --from again --seed 1 --quiet
bloomery info w2 | grep -e keys -e burst
