bloomery create a.blm --kind scalable -n 100 -p 1e-6 --seed 1 --quiet
mkfifo keys questions answers
bloomery add a.blm <keys 2>/dev/null &
exec 3>keys
bloomery check a.blm <questions >answers &
exec 4>questions 5<answers
# Grow the file by several layers under the reader, then ask for old and new keys.
seq 10000 >&3
# (Asked in one batch: while a layer is on its way, everything may be in it.)
until [ "$(printf '10000\n10001\n' | bloomery check a.blm)" = 10000 ]; do
    sleep 0.01
done
for n in 1 5000 10000; do
    echo $n >&4
    read -r answer <&5
    echo "$answer"
done
exec 3>&- 4>&- 5<&-
wait
