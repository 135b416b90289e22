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
const integers = Uint32Array.from({ length: N }, (_, i) => Math.imul(i, 0x9E3779B1) >>> 0);
const texts = {
  'short strings': Array.from({ length: N }, (_, i) => `user:${i}`),
  URLs: Array.from({ length: N }, (_, i) => `https://example.org/catalogue/items/${1e9 + i}/details?page=${i % 10}`),
};
// A string made of parts is put together when it is first read: before anybody is measured.
for (const list of Object.values(texts)) for (const s of list) s.charCodeAt(0);

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

// Adds are into a new filter each time.
const rows = new Map();
function measure(name, keys, runs, make, add, check) {
  let f, added = Infinity;
  for (let i = 0; i < runs; i++) {
    f?.free?.();
    f = make();
    added = Math.min(added, time(keys, 1, () => add(f)));
  }
  rows.set(name, [added, time(keys, runs, () => check(f))]);
  f.free?.();
}

const ours = () => bloomery.create({ items: N, rate: RATE });
const small = () => new Small(bits, 7);
const some = 1e5; // of bloom-filters, which takes microseconds
measure('integers: bloomery', N, 5, ours, (f) => f.addMany(integers), (f) => f.hasMany(integers));
measure('integers: bloomfilter', N, 3, small, (f) => integers.forEach((v) => f.add(v)), (f) => integers.forEach((v) => f.test(v)));
for (const [name, list] of Object.entries(texts)) {
  const bytes = new TextEncoder().encode(list.join(''));
  const offsets = new Uint32Array(N + 1);
  list.forEach((s, i) => { offsets[i + 1] = offsets[i] + s.length; });
  const packed = { bytes, offsets };
  measure(`${name}, packed: bloomery`, N, 5, ours, (f) => f.addMany(packed), (f) => f.hasMany(packed));
  measure(`${name}, a list: bloomery`, N, 5, ours, (f) => f.addMany(list), (f) => f.hasMany(list));
  measure(`${name}, one a call: bloomery`, N, 3, ours, (f) => list.forEach((s) => f.add(s)), (f) => list.forEach((s) => f.has(s)));
  measure(`${name}: bloomfilter`, N, 3, small, (f) => list.forEach((s) => f.add(s)), (f) => list.forEach((s) => f.test(s)));
  measure(`${name}: bloom-filters`, some, 1, () => Theirs.create(N, RATE), (f) => { for (let i = 0; i < some; i++) f.add(list[i]); }, (f) => { for (let i = 0; i < some; i++) f.has(list[i]); });
  // The least that a list of strings can take: into bytes, by the quickest way that we know, and nothing asked.
  const room = new Uint8Array(1 << 20), encoder = new TextEncoder();
  rows.set(`${name}, only encoded`, [NaN, time(N, 5, () => {
    for (let i = 0; i < N; i += 1024) {
      let all = '';
      for (let j = i; j < i + 1024 && j < N; j++) all += list[j];
      encoder.encodeInto(all, room);
    }
  })]);
}

console.log(`${'ns a key'.padEnd(38)}${'add'.padStart(10)}${'check'.padStart(10)}`);
const figure = (v) => (Number.isNaN(v) ? '' : v.toFixed(1)).padStart(10);
for (const [name, both] of rows) console.log(`${name.padEnd(38)}${both.map(figure).join('')}`);
const times = (of, a, b) => of.map((i) => (rows.get(a)[i] / rows.get(b)[i]).toFixed(1)).join(' and ');
console.log('\ntimes as fast as bloomfilter, add and check');
console.log(`${'integers'.padEnd(38)}${times([0, 1], 'integers: bloomfilter', 'integers: bloomery')}`);
for (const name of Object.keys(texts)) {
  for (const way of ['packed', 'a list'])
    console.log(`${`${name}, ${way}`.padEnd(38)}${times([0, 1], `${name}: bloomfilter`, `${name}, ${way}: bloomery`)}`);
  console.log(`${`${name}, if encoding were all`.padEnd(38)}${times([1], `${name}: bloomfilter`, `${name}, only encoded`)}`);
  console.log(`${`${name}, a list, to bloom-filters`.padEnd(38)}${times([0, 1], `${name}: bloom-filters`, `${name}, a list: bloomery`)}`);
}
