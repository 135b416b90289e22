bloomery create f.guava --scheme guava -n 1000 -p 0.03
od -An -tx1 -N 6 f.guava
echo key | bloomery add f.guava
printf 'key\nother\n' | bloomery check f.guava
