# They say what a format leaves out. A file that says otherwise is not read by them.
seq 5 >keys
bloomery create a.blm --kind classic -n 100 --seed 7 --from keys --quiet
bloomery check -c a.blm keys -m 5
bloomery check -c a.blm keys -k 1
bloomery check -c a.blm keys --seed 99
bloomery convert a.blm x --to native --seed 5
bloomery add a.blm keys -m 5
bloomery info a.blm --from-scheme guava
bloomery check -c a.blm keys -m 1_024 -k 5 --seed 7 --from-scheme native
bloomery create b.raw --scheme go -n 100 --from keys --quiet
bloomery convert b.raw c.raw --to raw 
bloomery check -c c.raw keys --from raw --from-scheme go -m 99999 -k 7
bloomery check -c c.raw keys --from raw --from-scheme go -m 9 -k 7
# Spark's seed is an int: -5 is 4294967291.
bloomery create d.spark --scheme spark -n 100 --seed -5 --from keys --quiet
bloomery convert d.spark d.blm --to native --quiet
bloomery check -c d.blm keys --seed -5
bloomery check -c d.blm keys --seed 4294967291
bloomery check -c d.blm keys --seed -6
ls
