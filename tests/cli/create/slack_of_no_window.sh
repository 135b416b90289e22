bloomery create f -n 100 --slack 0.1
bloomery create f --kind blocked -n 100 --slack 0.1
bloomery create f --kind window -n 100 --slack 0.2
