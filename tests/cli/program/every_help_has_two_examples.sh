# Every command the program lists answers --help, with at least two examples.
bloomery --help | sed -n '/^Commands:/,/^$/s/^  \([a-z0-9]*\) .*/\1/p' >commands
while read -r command; do
    bloomery "$command" --help >help || echo "$command: exit $?"
    n=$(sed -n '/^Examples:/,/^$/p' help | grep -c '^  [^ ]')
    [ "$n" -ge 2 ] || echo "$command: $n examples"
    awk -v c="$command" 'length > 100 { print c ": a line of " length }' help
done <commands
[ "$(wc -l <commands)" -ge 5 ]
