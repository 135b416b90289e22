# Killed between making its directory and saying so: the next run removes it all the same.
seq 100000 >keys
mkdir f.spill g.spill mine
bloomery build f --include keys -p 0.01 --working-memory 1M --quiet
bloomery create g -n 1e7 --working-memory 1M --from keys --quiet
bloomery build h --include keys -p 0.01 --working-memory 1M --spill mine --quiet
ls
