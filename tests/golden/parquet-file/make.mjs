// Writes the files of this folder with DuckDB, and DuckDB's own answers about them:
//   npm install @duckdb/node-api && node make.mjs .
// probes.tsv: file, column, value, and the row groups that DuckDB does not exclude.
import { DuckDBInstance } from '@duckdb/node-api';
import { writeFileSync } from 'node:fs';

const out = process.argv[2] ?? '.';
const db = await (await DuckDBInstance.create(':memory:')).connect();
const rows = async sql => (await db.runAndReadAll(sql)).getRowsJson();

// Three row groups that share few values. A column gets a filter where DuckDB writes a dictionary.
const distinct = 40; // values of a column in a row group
const types = `
  SELECT 'name-' || (i // 2048 * 30 + i % ${distinct})            AS name,
         (i // 2048 * 30 + i % ${distinct} - 50)::INTEGER          AS i32,
         ((i // 2048 * 30 + i % ${distinct}) * 1000000007)::BIGINT AS i64,
         ((i // 2048 * 30 + i % ${distinct}) / 8)::FLOAT           AS f32,
         ((i // 2048 * 30 + i % ${distinct}) / 7)::DOUBLE          AS f64,
         i % 2 = 0                                                 AS flag,
         {'inner': 'deep-' || (i // 2048 * 30 + i % ${distinct})}  AS box
  FROM range(6144) t(i)`;
const files = {
  'duckdb-types.parquet': [types, 'ROW_GROUP_SIZE 2048'],
  'duckdb-one.parquet': ["SELECT 'w' || i % 20 AS word FROM range(200) t(i)", ''],
  'duckdb-empty.parquet': ["SELECT 'x' AS word WHERE false", ''],
  'duckdb-none.parquet': ["SELECT 'w' || i % 20 AS word FROM range(200) t(i)",
                          'WRITE_BLOOM_FILTER false'],
};
for (const [name, [sql, options]] of Object.entries(files))
  await db.run(`COPY (${sql}) TO '${out}/${name}' (FORMAT parquet, COMPRESSION zstd${options ? ', ' + options : ''})`);

const values = {
  name: Array.from({ length: 140 }, (_, i) => `name-${i}`),
  i32: Array.from({ length: 140 }, (_, i) => `${i - 60}`),
  i64: Array.from({ length: 140 }, (_, i) => `${BigInt(i - 10) * 1000000007n}`),
  f32: Array.from({ length: 140 }, (_, i) => `${i / 8}`),
  f64: Array.from({ length: 140 }, (_, i) => `${i / 7}`),
};
const cast = { name: 'VARCHAR', i32: 'INTEGER', i64: 'BIGINT', f32: 'FLOAT', f64: 'DOUBLE' };
let tsv = '';
const ask = async (file, column, type, list) => {
  for (const v of list) {
    const answer = await rows(`SELECT row_group_id, bloom_filter_excludes FROM
      parquet_bloom_probe('${out}/${file}', '${column}', '${v}'::${type}) ORDER BY row_group_id`);
    tsv += [file, column, v, answer.filter(r => !r[1]).map(r => r[0]).join(',')].join('\t') + '\n';
  }
};
for (const column of Object.keys(values))
  await ask('duckdb-types.parquet', column, cast[column], values[column]);
await ask('duckdb-one.parquet', 'word', 'VARCHAR', Array.from({ length: 60 }, (_, i) => `w${i}`));
writeFileSync(`${out}/probes.tsv`, tsv);

let list = '';
for (const name of Object.keys(files))
  for (const r of await rows(`SELECT row_group_id, path_in_schema, type, row_group_num_rows,
      bloom_filter_offset, bloom_filter_length FROM parquet_metadata('${out}/${name}')`))
    list += [name, ...r.map(v => v ?? '-')].join('\t') + '\n';
writeFileSync(`${out}/filters.tsv`, list);
console.log((await rows('SELECT version()'))[0][0]);
