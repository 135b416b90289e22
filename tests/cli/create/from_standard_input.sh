printf 'a,1\nb,2\n' | bloomery create a.blm -n 10 -p 1e-6 --from - -f 2 -d ,
printf '1\n2\na\n' | bloomery check a.blm
