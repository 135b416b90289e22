golden=$(dirname "$0")/../../golden/guava/m64-int64
sed 1d "$golden"/members.txt >keys
bloomery convert "$golden"/filter.bin a.blm --to native --quiet
bloomery check -e int64 -v -c a.blm keys
bloomery convert a.blm b.blm --to native --scheme native -e int64 --members keys
bloomery check -e int64 -v -c b.blm keys
