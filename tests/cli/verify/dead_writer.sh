bloomery create a.blm -n 1000 --seed 7 --quiet
mkfifo pipe
bloomery add a.blm --quiet <pipe &
exec 3>pipe
echo a >&3
until echo a | bloomery check -q a.blm; do sleep 0.01; done
kill -KILL $!
wait $! 2>/dev/null
echo a | bloomery verify a.blm --members - --trials 1000
