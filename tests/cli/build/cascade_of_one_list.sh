seq 10 >keys
bloomery build a.blm --include keys --kind cascade
bloomery build a.blm --include keys --kind cascade -p 1%
ls
