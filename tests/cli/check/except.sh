# A filter that says "maybe" to one absent key in two.
seq 1000 >spammers
seq 1001 2000 >customers
seq 1 3000 >senders
bloomery create a.blm -n 1000 -p 0.5 --seed 1 --from spammers --quiet
bloomery check -c a.blm spammers --except customers
bloomery check a.blm senders --except customers | awk '$1 > 1000 && $1 <= 2000' | wc -l
bloomery check -c -v a.blm customers --except customers
bloomery check -q a.blm customers --except customers || echo none
bloomery check --json a.blm customers --except customers
# An empty line is a key; a list may be empty.
printf '\n' | bloomery add --quiet a.blm
printf '\n' >empty
bloomery check -c a.blm empty --except empty
bloomery check -c a.blm empty --except /dev/null
bloomery check a.blm --except nowhere
bloomery check a.blm --except - <customers
bloomery check a.blm - --except - <customers
bloomery check a.blm spammers - --except - <customers
bloomery check - spammers --except - <a.blm
bloomery check - - <a.blm
