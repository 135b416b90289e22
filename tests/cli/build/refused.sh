seq 10 >keys
bloomery build a.blm
bloomery build b.blm --include keys --kind cuckoo
bloomery build b.blm --include keys --exclude keys --kind static
bloomery build b.blm --include keys -p 2
bloomery build b.blm --include nowhere
bloomery build a.blm --include keys --seed 1 --quiet
bloomery build a.blm --include keys --seed 1
bloomery build c.blm --include keys --memory 64K
bloomery build c.blm --include keys --memory 1048575
