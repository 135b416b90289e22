export BLOOMERY_CPU=portable
cp "$(dirname "$0")"/../../golden/parquet-file/*.parquet .
seq -f 'name-%g' 0 99 > members
bloomery verify duckdb-types.parquet --column name --members members --trials 1000 --rate 0.05
bloomery verify duckdb-types.parquet --column name --row-group 1 --members members --trials 1000 --rate 0.05
seq 1000 1100 > absent
bloomery verify duckdb-types.parquet --column i32 --absent absent
