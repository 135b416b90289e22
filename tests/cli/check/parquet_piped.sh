# What cannot be read from a pipe is named, with what to do instead.
cp "$(dirname "$0")"/../../golden/parquet-file/duckdb-one.parquet .
echo x >keys
bloomery check - keys <duckdb-one.parquet
cat duckdb-one.parquet | bloomery check /dev/stdin keys
cat duckdb-one.parquet | bloomery info -
bloomery verify - <duckdb-one.parquet
printf 'BZh9 this was compressed' | bloomery check - keys
printf '\375''7zXZ\000 and this' | bloomery check - keys
