# The smallest kind that has the rate; nothing is lost, and little is let through.
seq 5000 >keys
seq 5001 105000 >absent
bloomery build a.blm --include keys --seed 1
bloomery check -c a.blm keys
test "$(bloomery check -c a.blm absent)" -lt 1000 && echo "less than 1%"
bloomery verify a.blm
for p in 0.5 1e-3 1e-6; do
    bloomery build b.blm --include keys --seed 1 -p $p --force
    bloomery check -c b.blm keys
done
# What was built takes nothing more.
echo more | bloomery add a.blm
