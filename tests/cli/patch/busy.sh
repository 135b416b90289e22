bloomery create old.blm -n 100000 --seed 7 --quiet
seq 50000 | bloomery add old.blm --quiet
cp old.blm new.blm
seq 50001 51000 | bloomery add new.blm --quiet
bloomery diff --quiet old.blm new.blm >delta
mkfifo pipe
bloomery add old.blm --quiet <pipe &
exec 3>pipe
echo 1 >&3
until bloomery info old.blm | grep -q 'open for writing'; do sleep 0.01; done
bloomery patch old.blm <delta
code=$?
exec 3>&-
wait
exit $code
