# A link stays a link, whether the file that it leads to is there or not.
seq 5 >keys
ln -s made link
bloomery info link
bloomery dedup --state link keys
bloomery create link -n 5
bloomery merge link keys keys
bloomery create link -n 5 --force --from keys
test -L link && echo "still a link"
bloomery check -c made keys
