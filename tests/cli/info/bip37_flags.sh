bloomery create f --scheme bip37 -m 40 -k 3 --variant 2 --seed 7 --quiet
bloomery info f | grep -E ' (flags|size) '
