export BLOOMERY_CPU=portable
bloomery create a.blm -n 1000 --seed 0x0123456789abcdef0123456789abcdef --hash siphash --quiet
bloomery info a.blm
