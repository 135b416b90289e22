bloomery create a.blm -n 100 -p 0.1 --scheme functions
code=$?
ls
exit $code
