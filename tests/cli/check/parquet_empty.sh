# A file without row groups is in order: it has no rows, so every key is absent.
cp "$(dirname "$0")"/../../golden/parquet-file/duckdb-empty.parquet .
printf 'a\nb\n' >keys
bloomery info duckdb-empty.parquet --column word
bloomery check duckdb-empty.parquet keys --column word; echo $?
bloomery check duckdb-empty.parquet keys --column word -v; echo $?
bloomery check duckdb-empty.parquet keys --column word -c --json; echo $?
bloomery check duckdb-empty.parquet keys --column word --groups; echo $?
bloomery verify duckdb-empty.parquet --column word; echo $?
bloomery verify duckdb-empty.parquet --column word --members keys; echo $?
bloomery check duckdb-empty.parquet keys --column nobody; echo $?
bloomery check duckdb-empty.parquet keys --column word --row-group 0; echo $?
bloomery info duckdb-empty.parquet --column word --row-group 0; echo $?
bloomery convert duckdb-empty.parquet out.blm --column word --to native; echo $?
