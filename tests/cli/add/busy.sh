bloomery create a.blm -n 1000 -p 1e-6 --quiet
mkfifo pipe
bloomery add a.blm <pipe 2>first &
exec 3>pipe
echo a >&3
until echo a | bloomery check -q a.blm; do sleep 0.01; done
echo b | bloomery add a.blm
echo "exit $?"
exec 3>&-
wait $!
cat first
