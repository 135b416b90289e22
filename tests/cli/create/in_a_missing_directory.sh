bloomery create no/a.blm -n 1000
bloomery create no/a.blm -n 1000 --from /dev/null
