bloomery calc -n 50e6 --memory 64M -p 0.01 --kind classic
echo
bloomery calc -n 50e6 --memory 64M -p 1e-3 --kind classic
