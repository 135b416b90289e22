bloomery create f --scheme polynomial -n 10 -p 0.01 --variant 3
bloomery create f --scheme go -n 10 -p 0.01 --variant 1
bloomery create f --scheme native -n 10 -p 0.01 --variant 1
bloomery create f --scheme polynomial -n 10 -p 0.01 --variant 2
