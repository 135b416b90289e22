bloomery create f --scheme guva -n 1000 2>&1 | sed 's/use .*/use .../'
