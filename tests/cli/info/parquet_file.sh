export BLOOMERY_CPU=portable
cp "$(dirname "$0")"/../../golden/parquet-file/*.parquet .
bloomery info duckdb-types.parquet
bloomery info parquet-mr.parquet parquet-rs.parquet --column String
bloomery info duckdb-types.parquet --column i64 --row-group 1
bloomery info duckdb-none.parquet duckdb-empty.parquet
bloomery info --json duckdb-one.parquet
