# No other filter can have the seed of one that was built at once, so no way to it is shown.
seq 10 >keys
bloomery build a.blm --include keys --kind static --quiet
bloomery info a.blm | grep seed
