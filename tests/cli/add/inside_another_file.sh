# Replacing the file as a whole would lose what is around the filter.
bloomery create f --scheme guava -n 10 -p 0.01 --quiet
{ printf 'twelve bytes'; cat f; } >archive
cp archive before
echo x | bloomery add --from guava --offset 12 archive
code=$?
cmp archive before
exit $code
