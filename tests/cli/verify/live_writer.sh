bloomery create a.blm -n 1000 --seed 7 --quiet
mkfifo pipe
bloomery add a.blm --quiet <pipe &
exec 3>pipe
echo a >&3
until echo a | bloomery check -q a.blm; do sleep 0.01; done
bloomery verify a.blm --trials 1000 | head -1
exec 3>&-
wait
bloomery verify a.blm --trials 1000 | head -1
