bloomery create a.blm --last 1e6
bloomery create b.blm --last 1000 -p 0.1% --slack 10% --seed 1
seq 3000 | bloomery add b.blm
seq 3000 | bloomery check -c b.blm > n; [ $(cat n) -ge 1000 ] && [ $(cat n) -le 1100 ] && echo "the last thousand, and some"
seq 2001 3000 | bloomery check -c b.blm
