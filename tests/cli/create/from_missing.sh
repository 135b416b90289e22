bloomery create a.blm -n 1000 --from missing
code=$?
ls
exit $code
