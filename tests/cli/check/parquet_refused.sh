cp "$(dirname "$0")"/../../golden/parquet-file/*.parquet .
for column in flag nobody; do
    echo x | bloomery check duckdb-types.parquet --column $column
done
echo x | bloomery check duckdb-none.parquet --column word
echo 1 | bloomery check duckdb-types.parquet --column i64 -e int32
echo 1x | bloomery check duckdb-types.parquet --column f64
echo ' 1' | bloomery check duckdb-types.parquet --column f32
echo x | bloomery check duckdb-types.parquet
echo x | bloomery check duckdb-types.parquet --groups
echo x | bloomery check duckdb-types.parquet --column name --groups -v
echo x | bloomery add duckdb-types.parquet --column name
printf "name-0\n" > names
bloomery check - names --column name < duckdb-types.parquet
bloomery merge out.blm duckdb-types.parquet duckdb-one.parquet
