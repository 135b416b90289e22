mkfifo pipe
bloomery dedup --state seen.blm <pipe >first &
exec 3>pipe
echo a >&3
while [ ! -s first ]; do sleep 0.01; done
echo b | bloomery dedup --state seen.blm
echo "exit $?"
exec 3>&-
wait $!
echo "exit $?"
