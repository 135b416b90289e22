bloomery create f.go --scheme go -n 20000 -p 1e-6 --quiet
mkfifo pipe
bloomery add f.go <pipe --quiet &
exec 3>pipe
seq 20000 >&3 # more than a pipe holds: when this is through, the first add is at work
echo b | bloomery add f.go
echo "exit $?"
exec 3>&-
wait $!
printf '1\n20000\nb\n' | bloomery check f.go
