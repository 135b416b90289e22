# needs: JANSSON
# Three times the keys that m and k are good for at half of the bits: no file here says that they
# are too many, so none is broken. The user may say so.
seq 3000 >keys
bloomery create a.go --scheme go -n 1000 -p 0.01 --from keys --quiet 2>/dev/null
bloomery convert a.go a.json --to go-json --quiet
bloomery convert a.go a.blm --to native --quiet
bloomery convert a.go a.raw --to raw --quiet
bloomery create a.slots --scheme byteslot -m 12000 --from keys --quiet 2>/dev/null
bloomery convert a.slots b.slots --to byteslot --quiet
as()
{
    bloomery verify --trials 100000 --members keys "$@" | grep -v -e checksums -e members
    bloomery verify --trials 100000 --members keys "$@" >/dev/null
    echo "exit $?"
}
for f in a.go a.json a.blm; do
    as $f
done
as b.slots --from byteslot
as a.raw --from raw --from-scheme go -m 9586 -k 7
as a.raw --from raw --from-scheme go -m 9586 -k 7 --rate 0.5
as a.raw --from raw --from-scheme go -m 9586 -k 7 -p 0.01
