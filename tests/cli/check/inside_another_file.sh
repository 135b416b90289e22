# A filter that starts somewhere in another file, by name and from standard input; -e hex takes
# another funnel than text does, for which a filter from a stream is decoded twice.
golden=$(dirname "$0")/../../golden/guava/m64-small10
{ printf 'twelve bytes'; cat "$golden"/filter.bin; } >archive
cp "$golden"/members.txt .
printf '73736d612d6b65792d30\n73736d612d6b65792d39\n' >members.hex # the first and the last
bloomery check -c --offset 12 --from guava archive members.txt
bloomery check -c --offset 12 --from guava - members.txt <archive
bloomery check -c --offset 12 --from guava -e hex archive members.hex
bloomery check -c --offset 12 --from guava -e hex - members.hex <archive
bloomery info --offset 12 --from guava archive | grep -E ' (scheme|keys|format) '
bloomery check --offset 99999999 archive members.txt
bloomery verify --offset 99999999 - <archive
bloomery check -c --offset 13 --from guava archive members.txt
