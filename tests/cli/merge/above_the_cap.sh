# The command line has no option for the cap.
for i in 1 2 3; do bloomery create $i --kind scalable -p 0.2 -n 100 --seed 1 --quiet; done
bloomery merge all 1 2 3
