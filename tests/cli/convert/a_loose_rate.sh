# At 5% the new filter takes one key in twenty for one it has; the list is complete all the same.
seq 100000 >m.txt
head -n 95000 m.txt >most.txt
bloomery create f -n 1e5 -p 0.05 --from m.txt --seed 1 --quiet
for p in 0.01 0.05 0.3; do bloomery convert f g$p --to guava -p $p --members m.txt; done
cat m.txt m.txt >twice.txt
bloomery convert f twice --to guava --members twice.txt
bloomery convert f most --to guava --members most.txt
ls most
