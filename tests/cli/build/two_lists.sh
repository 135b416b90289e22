# No error on either list, whatever their ratio.
seq 3000 >spam
seq 3001 9000 >known
bloomery build a.blm --include spam --exclude known --seed 1
bloomery check -c a.blm spam
bloomery check -c a.blm known
bloomery info a.blm | grep -v -i -E 'kernel'
seq 3001 3030 >few
bloomery build b.blm --include spam --exclude few --seed 1 --quiet
bloomery check -c b.blm few
bloomery check -c b.blm spam
