# A native file says how its keys became bytes: nothing else is asked, and what is made of it says so too.
printf 'abc\nd\303\251f\n' >keys
printf 'new\nabc\n' >both
bloomery create g --scheme guava -n 100 --funnel chars --from keys --quiet
bloomery convert g f --to native --funnel chars --quiet
bloomery info f | grep scheme
bloomery info f --json | grep funnel
bloomery check -c f keys
bloomery verify f --members keys --trials 10 | grep members
cp f before
echo new | bloomery add f --quiet
bloomery check -c f both
bloomery check -c f both --funnel chars
bloomery check -c f both --funnel string
bloomery create l --like f --quiet
bloomery info l | grep scheme
bloomery merge m f l --quiet
bloomery intersect i f f --quiet 2>/dev/null || bloomery intersect i f m --quiet
bloomery convert f c --to native --quiet
for file in m i c; do bloomery check -c $file both; done
bloomery diff before f >delta
bloomery patch before <delta
bloomery check -c before both
bloomery convert f back --to guava --quiet
bloomery check -c back both --funnel chars
# What nobody chose leaves -e its say: Java's Integers are not strings.
seq 3 | bloomery create n --scheme guava -e int32 -n 100 --from - --quiet
bloomery convert n o --to native --quiet
bloomery info o --json | grep funnel
seq 3 | bloomery check -c o -e int32
# And two that differ do not meet.
bloomery merge x g f
# A file's writer keeps to the funnel that it records.
echo 4 | bloomery add o -e int32
bloomery convert n p --to native --funnel int --quiet
echo 4 | bloomery add p -e int32 --quiet
seq 4 | bloomery check -c p -e int32
bloomery create b --scheme guava -n 100 --funnel bytes --from keys --quiet
bloomery convert b q --to native --funnel bytes --quiet
echo new | bloomery add q --quiet
bloomery check -c q both
