bloomery create a.blm --for 10m
bloomery create a.blm --for 10 -n 5
bloomery create a.blm --for 0m -n 5
bloomery create a.blm --last 0
bloomery create a.blm --last 1e6 --slack 1%
bloomery create a.blm --last 1e6 -n 5
bloomery create a.blm --last 1e6 --kind blocked
bloomery create a.blm --slack 5% -n 10 --like b.blm
ls
