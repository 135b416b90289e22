# Many more lines than the first layer has room for.
seq 300000 >n
cat n n | bloomery dedup >out
bloomery dedup n n >out2
cmp n out && cmp n out2 && echo same
