# needs: ZLIB
# What is in it is a filter, but none of DCSO's, whose files may be gzip as a whole.
seq 100 | bloomery create native.blm -n 100 -p 0.01 --from - 2>/dev/null
seq 100 | bloomery create guava.bin --scheme guava64 -n 100 -p 0.01 --from - 2>/dev/null
gzip native.blm guava.bin
bloomery info native.blm.gz 2>&1 | sed 's/ (byte [0-9]*)//'
bloomery info guava.bin.gz 2>&1 | sed 's/ (byte [0-9]*)//'
gzip -dc guava.bin.gz | bloomery info - | head -n 3
bloomery info native.blm.gz 2>/dev/null
