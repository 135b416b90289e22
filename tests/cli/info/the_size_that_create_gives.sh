# In memory and on disk bits take whole words.
bloomery create a.blm -m 1000 -k 4 --seed 1
bloomery info a.blm | grep size
bloomery info a.blm --json | grep -o '"bytes": *[0-9]*' | head -n 1
