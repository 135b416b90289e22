bloomery create a.blm -n 1000 --quiet
bloomery create b.blm -n 1000 --quiet
bloomery diff a.blm b.blm >delta
code=$?
wc -c <delta
exit $code
