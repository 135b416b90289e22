seq 1000 >keys
bloomery create f -n 1e6 --from keys --working-memory 64K --spill f
bloomery create f -n 1e6 --from keys --working-memory 64K --spill ./f/
bloomery build f --include keys --memory 1M --spill f
(seq 1000; echo none) >bad
bloomery create f -n 1e6 --from bad --working-memory 64K -e int64
bloomery create f -n 2e6 --from bad --working-memory 64K -e int64
ls
