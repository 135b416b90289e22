# needs: MD
# A number of keys is enough for every scheme: 1%, or what its own library takes.
for s in $(bloomery --names schemes | grep -v functions); do bloomery create $s -n 1000 --scheme $s; done
