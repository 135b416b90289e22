# Standard output is full: one message, status 2, and no note of success.
seq 100 >k
bloomery create f -n 100 --from k --quiet --seed 1
bloomery create c -n 100 --from k --quiet --seed 1 --kind counting
cp f g
for words in 'create - -n 100' 'create - -n 100 --from k' 'convert f - --to native' \
    'convert f - --to guava --members k' 'merge - f g' 'intersect - f g' 'add - k' 'info f' \
    'diff f g' 'compare f g' 'calc -n 100 -p 0.01'; do
    bloomery $words <f >/dev/full
    echo $? $words
done
bloomery remove - k <c >/dev/full
echo $?
