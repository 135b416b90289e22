bloomery build a.blm --include /dev/null --seed 1
echo x | bloomery check -c a.blm
seq 10 >keys
bloomery build b.blm --include keys --exclude /dev/null --seed 1
bloomery check -c b.blm keys
bloomery build c.blm --include /dev/null --exclude keys --seed 1
bloomery check -c c.blm keys
for kind in classic blocked; do
    bloomery build $kind.blm --include /dev/null --kind $kind --seed 1
    bloomery build $kind.blm --include /dev/null --kind $kind --seed 1 --memory 1M --force
    echo x | bloomery check -c $kind.blm
done
