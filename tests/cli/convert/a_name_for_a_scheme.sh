seq 100 | bloomery create a.guava -n 100 -p 0.01 --scheme guava --from - --quiet
bloomery convert a.guava b.blm --to native --scheme guava
bloomery info b.blm | grep scheme
