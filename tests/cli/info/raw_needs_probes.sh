bloomery create f --scheme go -n 10 -p 0.01 --quiet
bloomery convert f raw --to raw --quiet
bloomery info --from raw --from-scheme go raw
bloomery info --from raw --from-scheme go -k 7 raw | grep ' probes '
