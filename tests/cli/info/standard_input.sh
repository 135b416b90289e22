export BLOOMERY_CPU=portable
bloomery create - -n 1000 --seed 7 --quiet | bloomery info -
