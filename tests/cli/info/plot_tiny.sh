export LC_ALL=C.UTF-8
export BLOOMERY_CPU=portable
echo a | bloomery create a.blm -m 8 -k 2 --seed 7 --from - --quiet
bloomery info --plot a.blm | tail -10
bloomery info --plot --json a.blm | grep -A20 regions
