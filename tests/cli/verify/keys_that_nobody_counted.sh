# What came from a format without a count has more bits than the keys that were counted since.
seq 500 >keys
bloomery create g --scheme guava -n 1000 --from keys --quiet
bloomery convert g n --to native --quiet
seq 501 510 | bloomery add n --quiet
bloomery verify n --trials 1000 | grep fill
bloomery verify n --trials 1000 --json | grep -A6 '"fill": {' | grep -e verdict -e by_count
bloomery info n --json | grep unclosed
bloomery info g --json | grep unclosed
bloomery create e --scheme guava -n 1000 --quiet
bloomery info e --json | grep unclosed
