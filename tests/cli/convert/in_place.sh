seq 1000 >keys
bloomery create a.guava -n 1000 --scheme guava64 --from keys --quiet
bloomery convert a.guava a.guava --to native --force
bloomery info a.guava | grep format
bloomery check -c a.guava keys
