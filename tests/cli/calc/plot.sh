export LC_ALL=C.UTF-8
bloomery calc -n 1e6 -p 0.01 --kind classic --plot
