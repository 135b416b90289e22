bloomery calc -n 1e6 -p 0.01 --kind scalable --plot
