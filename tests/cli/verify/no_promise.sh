cp "$(dirname "$0")"/../../golden/guava/m64-med1000-p03/filter.bin a.guava
cp "$(dirname "$0")"/../../golden/guava/m64-med1000-p03/members.txt .
bloomery verify a.guava --members members.txt --trials 100000
