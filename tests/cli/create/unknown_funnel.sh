bloomery create f.guava --scheme guava -n 1000 --funnel wide
bloomery create f.guava --scheme guava -n 1000 --quiet
echo a | bloomery add f.guava --funnel wide
