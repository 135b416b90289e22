bloomery create a.blm --kind scalable -n 100 -p 1e-6 --quiet
mkfifo keys questions answers
bloomery add a.blm <keys 2>/dev/null &
exec 3>keys
bloomery check a.blm <questions >answers &
exec 4>questions 5<answers
# Grow the file by several layers under the reader, then ask for old and new keys.
seq 10000 >&3
until echo 10000 | bloomery check -q a.blm && ! echo 10001 | bloomery check -q a.blm; do
    sleep 0.01
done
for n in 1 5000 10000; do
    echo $n >&4
    read -r answer <&5
    echo "$answer"
done
exec 3>&- 4>&- 5<&-
wait
