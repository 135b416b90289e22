# create has no --column, and what is in a file of another format is not changed there.
printf 'PAR1 and so on, PAR1' > all.parquet
bloomery create f --like all.parquet
bloomery create f --like - < all.parquet
echo key | bloomery add all.parquet
bloomery info all.parquet --json
