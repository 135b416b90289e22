seq 10 >keys
bloomery create a.blm -n 1000 -p 1e-6 --from keys --quiet
# The answer to a line is there before the next line is asked for.
mkfifo in out
bloomery check a.blm <in >out &
exec 3>in 4<out
for n in 5 77 6; do
    echo $n >&3
    [ $n = 77 ] || { read -r answer <&4; echo "got $answer"; }
done
exec 3>&- 4<&-
wait
