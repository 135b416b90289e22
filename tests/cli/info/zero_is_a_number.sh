bloomery create f --scheme guava -n 10 -p 0.01 --variant 0 --quiet
bloomery info --offset 0 --variant 0 f | grep ' format '
bloomery create s --scheme spark2 -n 10 -p 0.01 --seed -559038737 --quiet
bloomery info s | grep ' seed '
bloomery create s --scheme spark2 -n 10 -p 0.01 --seed -9223372036854775809
