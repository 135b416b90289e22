export LC_ALL=C.UTF-8
bloomery calc -n 1e6 -p 1e-6 --kind blocked --plot
