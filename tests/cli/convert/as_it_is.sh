golden=$(dirname "$0")/../../golden/guava/m64-med1000-p03
bloomery convert "$golden"/filter.bin a.blm --to native
bloomery info a.blm | grep -e scheme -e format
bloomery check -v -c a.blm "$golden"/members.txt
bloomery convert a.blm b.guava --to guava
cmp b.guava "$golden"/filter.bin && echo 'the same bytes again'
