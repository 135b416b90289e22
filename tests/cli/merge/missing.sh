bloomery create a.blm -n 1000 --quiet
bloomery merge c.blm a.blm b.blm
code=$?
ls
exit $code
