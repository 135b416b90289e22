# -d without -f is refused before anything is read or made, by every command that reads keys.
seq 3 >keys
bloomery create a.blm -n 5 --from keys --quiet
bloomery check a.blm keys -d ,
echo $?
bloomery dedup keys -d ,
echo $?
bloomery dedup keys --state state.blm -d ,
bloomery create b.blm -n 5 --from keys -d ,
bloomery verify a.blm --members keys -d ,
bloomery check a.blm --except keys keys -d ,
ls
