bloomery create a.blm -n 1000 --kind classic --seed 7 --quiet
bloomery create b.blm -n 2000 --kind classic --seed 7 --quiet
bloomery create c.blm -n 1000 --seed 7 --kind blocked --quiet
bloomery create d.blm -m 9600 -k 3 --seed 7 --quiet
bloomery create e.blm -n 1000 --kind classic --seed 7 --hash siphash --quiet
bloomery create f.guava -n 1000 --scheme guava64 --quiet
for other in b.blm c.blm d.blm e.blm f.guava; do bloomery merge - a.blm $other; done
bloomery merge - c.blm f.guava
