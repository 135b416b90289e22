cp "$(dirname "$0")"/../../golden/parquet-file/*.parquet "$(dirname "$0")"/../../golden/parquet-file/bad/*.parquet .
bloomery info duckdb-types.parquet --column nobody
bloomery info duckdb-types.parquet --row-group 1
bloomery info duckdb-types.parquet --column name --row-group 3
bloomery info duckdb-types.parquet --column name --offset 4
bloomery info schema-deep.parquet
bloomery info filters-overlap.parquet --column a
bloomery info encrypted.parquet
bloomery info nowhere.parquet --column name
