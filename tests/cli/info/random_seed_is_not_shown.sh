export BLOOMERY_CPU=portable
bloomery create a.blm -n 1000 --quiet
bloomery info a.blm
bloomery info a.blm --json | grep seed
