cp "$(dirname "$0")"/../../golden/parquet-file/*.parquet .
printf 'name-0\nname-35\nname-99\nnobody\n' > names
bloomery check duckdb-types.parquet --column name names
bloomery check duckdb-types.parquet --column name --groups -n names
bloomery check duckdb-types.parquet --column name --row-group 1 names
bloomery check duckdb-types.parquet --column name -v names
bloomery check duckdb-types.parquet --column box.inner -c names
printf '%s\n' -50 0 49 50 | bloomery check duckdb-types.parquet --column i32 --groups
printf '%s\n' 0 35000000245 1 | bloomery check duckdb-types.parquet --column i64 --groups
printf '%s\n' 0 4.5 1e3 -0 | bloomery check duckdb-types.parquet --column f32 --groups
printf '%s\n' 0 5.0 0.14285714285714285 0.142857 | bloomery check duckdb-types.parquet --column f64 --groups
printf '%s\n' 0000a040 | bloomery check duckdb-types.parquet --column f32 --groups -e hex
