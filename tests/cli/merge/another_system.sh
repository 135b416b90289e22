bloomery create a.guava -n 1000 --scheme guava64 --quiet
bloomery create b.guava --like a.guava --quiet
seq 1 10 | bloomery add a.guava --quiet
seq 11 20 | bloomery add b.guava --quiet
bloomery merge c.guava a.guava b.guava
seq 20 | bloomery check -c c.guava
bloomery info c.guava | grep format
