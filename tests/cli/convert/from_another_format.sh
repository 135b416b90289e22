cp "$(dirname "$0")"/../../golden/guava/m64-small10/filter.bin a.guava
bloomery convert a.guava b.blm --to native --from go
code=$?
ls
exit $code
