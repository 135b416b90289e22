# Blocks and box drawing are not for a locale without UTF-8.
seq 500 >keys
bloomery create a.blm -n 1000 --seed 1 --from keys --quiet
bloomery info --plot a.blm | sed -n '/fill over/,$p'
