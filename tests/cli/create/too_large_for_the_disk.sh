bloomery create a.blm -n 1e14 -p 0.01
code=$?
ls
exit $code
