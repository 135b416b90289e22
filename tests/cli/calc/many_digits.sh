# As bc and others print them.
bloomery calc -n 1.0000000000000000000000e3 -p .33333333333333333333 --kind classic | sed -n 1p
bloomery calc -n 1000.0000000000000000000000 -p 0.3333333333333333333333333333 --kind classic | sed -n 1p
bloomery calc -n 1000 -p 33.33333333333333333333% --kind classic | sed -n 1p
bloomery calc -n 1e3 --memory 1.00000000000000000000000000001K --kind classic | sed -n 4p
bloomery calc -n 1.00000000000000000000001 -p 0.01
bloomery calc -n 1.5 -p 0.01
bloomery calc -n 0.1_000e4 -p .000000000000000000000001 --kind classic | sed -n 3p
bloomery calc -n 1e20
bloomery calc -n 18446744073709551616
bloomery calc -n 1e-20
bloomery calc -n 1e400
