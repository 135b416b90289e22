// SPDX-License-Identifier: MIT
// The npm package beside npm's bloom-filters and bloomfilter: a million keys at 1%, in this process.
//     node bench/web.mjs BUILD/web        (make bench-web)
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const at = resolve(process.argv[2]);
const { load } = await import(join(at, 'pkg/index.js'));
const need = createRequire(join(at, 'bench/x.js'));
const { BloomFilter: Theirs } = need('bloom-filters');
const { BloomFilter: Small } = need('bloomfilter');
const bloomery = await load();

const N = 1e6, RATE = 0.01;
const bits = Math.ceil(-N * Math.log(RATE) / Math.log(2) ** 2);
const strings = Array.from({ length: N }, (_, i) => `user:${i}`);
const integers = Uint32Array.from({ length: N }, (_, i) => Math.imul(i, 0x9E3779B1) >>> 0);

// Nanoseconds a key, the best of some runs.
function time(keys, runs, work) {
  let best = Infinity;
  for (let i = 0; i < runs; i++) {
    const start = performance.now();
    work();
    best = Math.min(best, performance.now() - start);
  }
  return best * 1e6 / keys;
}

const rows = [];
function measure(name, keys, runs, make, add, check) {
  const f = make();
  const added = time(keys, 1, () => add(f));
  rows.push([name, added, time(keys, runs, () => check(f))]);
}

const ours = () => bloomery.create({ items: N, rate: RATE });
const some = 1e5; // of bloom-filters, which takes microseconds
measure('bloomery, integers in a typed array', N, 5, ours, (f) => f.addMany(integers), (f) => f.hasMany(integers));
measure('bloomery, a list of strings', N, 5, ours, (f) => f.addMany(strings), (f) => f.hasMany(strings));
measure('bloomery, one string a call', N, 3, ours, (f) => strings.forEach((s) => f.add(s)), (f) => strings.forEach((s) => f.has(s)));
measure('bloomfilter, integers', N, 3, () => new Small(bits, 7), (f) => integers.forEach((v) => f.add(v)), (f) => integers.forEach((v) => f.test(v)));
measure('bloomfilter, strings', N, 3, () => new Small(bits, 7), (f) => strings.forEach((s) => f.add(s)), (f) => strings.forEach((s) => f.test(s)));
measure('bloom-filters, strings', some, 1, () => Theirs.create(N, RATE), (f) => { for (let i = 0; i < some; i++) f.add(strings[i]); }, (f) => { for (let i = 0; i < some; i++) f.has(strings[i]); });

console.log(`${'ns/key'.padStart(50)}${'check'.padStart(10)}`.replace('ns/key', 'add, ns/key'));
for (const [name, added, checked] of rows) console.log(`${name.padEnd(38)}${added.toFixed(1).padStart(12)}${checked.toFixed(1).padStart(10)}`);
const of = (name) => rows.find((r) => r[0] === name)[2];
console.log(`integers in a batch: ${(of('bloomfilter, integers') / of('bloomery, integers in a typed array')).toFixed(1)} times as fast as bloomfilter`);
console.log(`strings in a batch: ${(of('bloomfilter, strings') / of('bloomery, a list of strings')).toFixed(1)} times as fast as bloomfilter, ${(of('bloom-filters, strings') / of('bloomery, a list of strings')).toFixed(0)} times as fast as bloom-filters`);
