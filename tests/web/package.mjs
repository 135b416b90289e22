// SPDX-License-Identifier: MIT
// The package, as Node loads it, against the golden vectors. BLM_PACKAGE: its folder.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const golden = join(process.env.BLM_SOURCE, 'tests/golden');
const { load, BloomeryError } = await import(join(process.env.BLM_PACKAGE, 'index.js'));
const b = await load();

const folders = (at) => readdirSync(at, { withFileTypes: true }).filter((e) => e.isDirectory()).map((e) => e.name);
const lines = (file) => readFileSync(file, 'utf8').split('\n').slice(0, -1);

// The keys of a vector and the original's answers.
function probes(at) {
  const rows = lines(join(at, 'probes.tsv'));
  const encoding = /^#(hex|int32|int64)/.exec(rows[0])?.[1] ?? 'text';
  return {
    encoding,
    rows: (rows[0].startsWith('#') ? rows.slice(1) : rows).map((row) => row.split('\t')),
  };
}

// Every file of a vector that is a whole filter: [name, bytes, format].
function* filters(format, at) {
  const names = { 'filter.json': 'go-json', 'filter.gob': 'go-gob', 'filter.bin.gz': 'dcso-gz' };
  for (const name of readdirSync(at)) {
    if (/^(filter\.(bin|json|gob)(\.gz)?|dump.*\.bin)$/.test(name))
      yield [name, readFileSync(join(at, name)), names[name] ?? (name.startsWith('dump') ? `${format}-dump` : undefined)];
  }
  if (existsSync(join(at, 'chunk0.bin'))) {
    const chunks = readdirSync(at).filter((n) => /^chunk\d+\.bin$/.test(n)).sort((x, y) => parseInt(x.slice(5)) - parseInt(y.slice(5)));
    yield ['chunks', Buffer.concat(chunks.map((n) => readFileSync(join(at, n)))), format];
  }
}

const FORMATS = ['bip37', 'byteslot', 'dcso', 'go', 'guava', 'parquet', 'redisbloom', 'redisbloom-cf', 'spark'];
for (const format of FORMATS) {
  test(`${format}: every vector answers as the original, and is saved as it was`, () => {
    let opened = 0, asked = 0;
    for (const vector of folders(join(golden, format))) {
      const at = join(golden, format, vector);
      if (!existsSync(join(at, 'probes.tsv'))) continue;
      const { encoding, rows } = probes(at);
      for (const [name, bytes, as] of filters(format, at)) {
        const options = vector.startsWith('old7') ? { format: 'raw', scheme: 'polynomial' } : format === 'byteslot' ? { format } : {};
        if (as === 'go-json' || as === 'dcso-gz') options.format = as;
        let f;
        try {
          f = b.open(bytes, options);
        } catch (e) {
          throw new Error(`${vector}/${name}: ${e.message}`);
        }
        if (vector.endsWith('unencodedchars')) f.setFunnel('chars');
        else f.setEncoding(encoding);
        const keys = rows.map(([key]) => b.decodeKey(encoding, format === 'redisbloom-cf' && key === '-' ? '' : key));
        const got = f.hasMany(keys);
        rows.forEach(([key, maybe], i) => {
          assert.equal(got[i], Number(maybe), `${format}/${vector}/${name}: ${key}`);
          assert.equal(f.has(keys[i]), maybe === '1');
        });
        // Compressed and older dumps are written as they are today.
        if (as !== 'dcso-gz' && !/lzf|encver/.test(name) && !(format === 'redisbloom-cf' && name !== 'chunks'))
          assert.deepEqual(Buffer.from(f.save()), bytes, `${format}/${vector}/${name}`);
        f.free();
        opened++;
        asked += rows.length;
      }
    }
    assert.ok(opened > 5 && asked > 1000, `${opened} opened, ${asked} asked`);
  });
}

test('every malformed file is refused with a sentence', () => {
  let refused = 0;
  for (const format of FORMATS) {
    const bad = join(golden, format, 'bad');
    for (const name of readdirSync(bad).filter((n) => !/REASONS|\.tsv$|\.md$/.test(n))) {
      const bytes = readFileSync(join(bad, name));
      assert.throws(() => b.open(bytes), (e) => e instanceof BloomeryError && e.message.length > 10 && /^BLM_E_/.test(e.status), `${format}/bad/${name}`);
      refused++;
    }
  }
  assert.ok(refused > 100);
});

test('native files of every age', () => {
  for (const name of readdirSync(join(golden, 'native')).filter((n) => n.endsWith('.blm'))) {
    const bytes = readFileSync(join(golden, 'native', name));
    const f = b.open(bytes, { verify: true });
    assert.ok(f.info().ones > 0);
    assert.ok(f.equals(b.open(f.save())));
    let at = 0;
    const g = b.openFrom((into) => {
      const n = Math.min(into.length, bytes.length - at, 1000);
      into.set(bytes.subarray(at, at + n));
      at += n;
      return n;
    });
    assert.ok(f.equals(g));
  }
});

for (const kind of ['classic', 'blocked', 'counting', 'scalable', 'window', 'cuckoo']) {
  test(`${kind}: keys that were added are never missed, others rarely found`, () => {
    const f = b.create({ kind, items: 20000, rate: 0.01, seed: 1n });
    const keys = Array.from({ length: 20000 }, (_, i) => `key ${i} 钥匙`);
    const fresh = f.addMany(keys.slice(0, 10000));
    assert.ok(fresh.reduce((x, y) => x + y) > 9800);
    for (const key of keys.slice(10000)) f.add(key);
    assert.equal(f.hasMany(keys).indexOf(0), -1);
    assert.ok(keys.every((k) => f.has(k)));
    const absent = Uint32Array.from({ length: 50000 }, (_, i) => i);
    const wrong = f.hasMany(absent).reduce((x, y) => x + y);
    assert.ok(wrong < 0.013 * absent.length, `${wrong} wrong`);
    assert.deepEqual(f.hasMany(absent), f.hasMany({ bytes: absent, width: 4 }));
    const g = b.open(f.save());
    assert.equal(g.hasMany(keys).indexOf(0), -1);
    assert.equal(f.fingerprint(), g.fingerprint());
    assert.ok(f.measure(20000).low < 0.01);
    if (kind === 'counting' || kind === 'cuckoo') {
      assert.equal(f.remove(keys[0]), true);
      assert.equal(f.removeMany(keys.slice(1, 3)).reduce((x, y) => x + y), 2);
    } else {
      assert.throws(() => f.remove(keys[0]), { status: 'BLM_E_UNSUPPORTED' });
    }
    f.free();
    assert.throws(() => f.has('x'), /freed/);
  });
}

// The portable kernel is the judge: the same bits, the same answers.
test('the module with vectors and the one without give the same filters', async () => {
  const [plain, vectors] = await Promise.all(['bloomery.wasm', 'bloomery-simd.wasm'].map((n) => load(readFileSync(join(process.env.BLM_PACKAGE, n)))));
  const keys = [Uint32Array.from({ length: 900 }, (_, i) => i * 7919), BigUint64Array.from({ length: 100 }, (_, i) => BigInt(i) << 33n),
    Array.from({ length: 300 }, (_, i) => 'k'.repeat(i))];
  const asked = [...keys, Uint32Array.from({ length: 20000 }, (_, i) => i * 3 + 1), Array.from({ length: 5000 }, (_, i) => `no ${i}`)];
  const shapes = [];
  for (let lines = 1; lines <= 3; lines++)
    for (let k = 1; k <= 8; k++) shapes.push({ kind: 'blocked', bits: 512 * 37, lines, probes: k * lines });
  for (let k = 1; k <= 12; k++) shapes.push({ kind: 'classic', bits: 9973, probes: k });
  for (const kind of ['counting', 'scalable', 'window', 'cuckoo']) shapes.push({ kind, items: 2000, rate: 0.01 });
  for (const shape of shapes) {
    const [a, c] = [plain, vectors].map((m) => m.create({ ...shape, seed: 77n }));
    const says = JSON.stringify(shape);
    for (const k of keys) assert.deepEqual(a.addMany(k), c.addMany(k), says);
    // An age of a window is by the clock, so its file may differ.
    if (shape.kind !== 'window') assert.deepEqual(a.save(), c.save(), says);
    for (const k of asked) assert.deepEqual(a.hasMany(k), c.hasMany(k), says);
    for (let i = 0; i < 200; i++) {
      assert.equal(a.has(`one ${i}`), c.has(`one ${i}`), says);
      assert.equal(a.add(`one ${i}`), c.add(`one ${i}`), says);
    }
    for (const k of keys) assert.equal(c.hasMany(k).indexOf(0), -1, says);
    if (shape.kind !== 'window') assert.deepEqual(a.save(), c.save(), says);
  }
});

test('a string is the same key in every batch', () => {
  const some = ['', 'a', 'ä', '钥匙', '😀', 'x'.repeat(40), 'é'.repeat(40), '\ud800', '\udc00x', '\u0000', 'x'.repeat(70000)];
  const encoder = new TextEncoder();
  // Every two beside each other: halves of a character that meet at a border, too.
  const list = some.flatMap((x) => some.flatMap((y) => [x, y]));
  const parts = list.map((s) => encoder.encode(s));
  const offsets = new Uint32Array(list.length + 1);
  parts.forEach((p, i) => { offsets[i + 1] = offsets[i] + p.length; });
  const bytes = new Uint8Array(Buffer.concat(parts));
  const seeded = () => b.create({ items: 1000, rate: 1e-6, seed: 3n });
  const [one, texts, views, packed, mixed] = Array.from({ length: 5 }, seeded);
  list.forEach((s) => one.add(s));
  texts.addMany(list);
  views.addMany(parts);
  packed.addMany({ bytes, offsets });
  mixed.addMany(list.map((s, i) => (i % 3 ? s : parts[i])));
  for (const f of [texts, views, packed, mixed]) assert.equal(f.fingerprint(), one.fingerprint());
  assert.deepEqual(texts.hasMany({ bytes, offsets: Int32Array.from(offsets) }), texts.hasMany(list));
  assert.deepEqual([...texts.hasMany(['nobody', 'a', '乐'])], [0, 1, 0]);
  const many = Array.from({ length: 10000 }, (_, i) => `${i % 7 ? '' : 'ß'}${i}`);
  assert.equal(texts.addMany(many).length, 10000);
  assert.ok(many.every((s) => texts.has(s)));
});

test('offsets that fall or pass the end are refused', () => {
  const f = b.create({ items: 100, rate: 0.01 }), bytes = new Uint8Array(10);
  const ask = (offsets) => f.hasMany({ bytes, offsets });
  assert.equal(ask(new Uint32Array([0, 4, 4, 10])).length, 3);
  assert.equal(ask(new Uint32Array([3])).length, 0);
  for (const wrong of [[0, 4, 3], [0, 11], [11, 12], [11], [0, 0xffffffff]]) assert.throws(() => ask(Uint32Array.from(wrong)), /offsets/);
  assert.throws(() => ask(new Int32Array([-1, 4])), /offsets/);
  assert.throws(() => ask([0, 4]), TypeError);
  assert.throws(() => ask(new Uint32Array(0)), TypeError);
});

test('two filters meet', () => {
  const one = b.create({ items: 1000, rate: 0.01 }), two = b.create({ like: one });
  one.addMany(['a', 'b', 'c']);
  two.addMany(['c', 'd']);
  assert.equal(Math.round(one.compare(two).either.value), 4);
  assert.deepEqual([...two.union(one).hasMany(['a', 'b', 'c', 'd'])], [1, 1, 1, 1]);
  assert.throws(() => one.union(b.create({ items: 1000, rate: 0.01 })), { status: 'BLM_E_MISMATCH' });
});

test('options are refused by name', () => {
  assert.throws(() => b.create({ itmes: 10 }), /itmes/);
  assert.throws(() => b.create({ items: 1.5, rate: 0.1 }), /items/);
  assert.throws(() => b.create({ items: -1, rate: 0.1 }), /items/);
  assert.throws(() => b.create({ items: 10, rate: 0.1, kind: 'bloom' }), /bloom/);
  assert.throws(() => b.create({ items: 10, rate: 2 }), BloomeryError);
  assert.throws(() => b.open('text'), TypeError);
});

test('what does not fit 32 bits is refused by name, and the rest still works', () => {
  assert.throws(() => b.create({ items: 1e10, rate: 0.01 }), { status: 'BLM_E_LIMIT', message: /124\d{8} bytes are more/ });
  assert.throws(() => b.create({ items: 3e9, rate: 0.01 }), { status: 'BLM_E_LIMIT', message: /37\d{8} bytes are more/ });
  assert.throws(() => b.create({ items: 1e6, rate: 0.01, maxBytes: 1000 }), { status: 'BLM_E_LIMIT' });
  assert.ok(b.create({ items: 100, rate: 0.01 }).add('x'));
});

test('seeds come from the system, unless they are given', () => {
  const seeded = () => b.create({ items: 100, rate: 0.01, seed: 0x123456789abcdef0fedcba9876543210n });
  assert.equal(seeded().fingerprint(), seeded().fingerprint());
  assert.equal(seeded().info().seed, '0x123456789abcdef0fedcba9876543210');
  const free = () => b.create({ items: 100, rate: 0.01 });
  assert.notEqual(free().fingerprint(), free().fingerprint());
});

test('what a callback throws comes out', () => {
  const f = b.create({ items: 100, rate: 0.01 });
  assert.throws(() => f.saveTo(() => { throw new Error('disk'); }), /disk/);
  assert.throws(() => b.openFrom(() => { throw new Error('wire'); }), /wire/);
});

test('the lines of docs/web.md run, and give what their comments say', async () => {
  const page = readFileSync(join(process.env.BLM_SOURCE, 'docs/web.md'), 'utf8');
  const shown = /^```js\nimport { load } from 'bloomery';\n([^]*?)^```$/m.exec(page)[1].trim().split('\n');
  const say = shown.map((line) => line.replace(/^(\w.*?); +\/\/ (true|false|Uint8Array)\b.*?( \[.*\])?$/,
    (_, call, word, list) => `said.push([String(${call}), '${list ? list.replace(/[[\] ]/g, '') : word}']);`));
  const lines = new (Object.getPrototypeOf(async () => {}).constructor)('load', 'bytes', 'offsets', 'said', say.join('\n'));
  const said = [];
  await lines(load, new TextEncoder().encode('ab'), new Uint32Array([0, 1, 2]), said);
  assert.equal(said.length, 3);
  for (const [got, comment] of said) assert.equal(got, comment);
});
