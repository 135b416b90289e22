bloomery create f -n 100 --seed 1 --quiet
seq 3 | bloomery check --json -q f
echo $?
seq 3 | bloomery check --json f
echo $?
