// SPDX-License-Identifier: MIT
// bloomery in WebAssembly. `load` compiles the module; everything else hangs on what it gives.
//
// Keys are bytes. A string is its UTF-8 bytes; a number has no bytes of its own and is refused,
// except in typed arrays, whose elements are keys of that width (little-endian, as they lie in
// memory).

const NUMBERS = ['items', 'rate', 'bits', 'probes', 'lines', 'memory', 'growth', 'tightening',
  'windowMs', 'slack', 'offset', 'maxBytes', 'variant', 'version'];
const NAMES = ['scheme', 'format', 'funnel'];
const WHOLE = new Set(['items', 'bits', 'probes', 'lines', 'memory', 'windowMs', 'offset', 'maxBytes',
  'variant', 'version']);
const OTHERS = new Set(['kind', 'seed', 'hash', 'verify', 'like', ...NUMBERS, ...NAMES]);
const ADD = 0, CHECK = 1, REMOVE = 2;
const CHUNK = 1 << 20; // bytes …
const ROWS = 4096;     // … and keys that are taken to the module at once
const TEXTS = 1024;    // strings

export class BloomeryError extends Error {
  constructor(status, message, offset) {
    super(message);
    this.name = 'BloomeryError';
    this.status = status;
    this.offset = offset;
  }
}

const utf8 = new TextEncoder();
const text = new TextDecoder();

function bytesOf(source) {
  if (source instanceof Uint8Array) return source;
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  throw new TypeError('bytes are a Uint8Array, another view, or an ArrayBuffer');
}

// A group of keys in the module's memory: text and bytes side by side, or elements of one width.
class Batch {
  constructor(wasm) {
    this.wasm = wasm;
    this.bytes = this.lengths = this.answers = 0;
    this.room = this.rows = 0;
  }

  reserve(bytes, rows) {
    const { give } = this.wasm.exports;
    if (bytes > this.room) {
      give(this.bytes);
      this.room = 0;
      this.bytes = this.wasm.take(bytes);
      this.room = bytes;
    }
    if (rows > this.rows) {
      give(this.lengths);
      give(this.answers);
      this.rows = 0;
      this.lengths = this.wasm.take(4 * rows);
      this.answers = this.wasm.take(rows);
      this.rows = rows;
    }
  }

}

// Short ASCII is copied by hand: that is faster than a call of the encoder.
const BY_HAND = 32;
function put(heap, at, key) {
  if (typeof key !== 'string') {
    const bytes = bytesOf(key);
    heap.set(bytes, at);
    return bytes.length;
  }
  const n = key.length;
  if (n > BY_HAND) return encode(heap, at, key);
  for (let i = 0; i < n; i++) {
    const c = key.charCodeAt(i);
    if (c > 127) return encode(heap, at, key);
    heap[at + i] = c;
  }
  return n;
}

const encode = (heap, at, key) => utf8.encodeInto(key, heap.subarray(at, at + 3 * key.length)).written;

function mostBytes(key) {
  return typeof key === 'string' ? 3 * key.length : bytesOf(key).length;
}

class Wasm {
  constructor(exports) {
    this.exports = exports;
    this.heap = new Uint8Array(0);
    this.batch = new Batch(this);
    this.source = this.sink = this.thrown = null;
  }

  // Memory that grows is another buffer, and views of the old one have no length. (To ask the memory for its
  // buffer takes longer than to ask a filter.)
  u8() {
    if (this.heap.length === 0) this.heap = new Uint8Array(this.exports.memory.buffer);
    return this.heap;
  }

  u32(at, length) {
    return new Uint32Array(this.u8().buffer, at, length);
  }

  take(size) {
    const at = this.exports.take(size || 1);
    if (!at) throw new BloomeryError('BLM_E_MEMORY', `no memory for ${size} bytes`);
    return at;
  }

  // A short text, ended by 0, for one call.
  with(strings, call) {
    const places = strings.map((s) => {
      const bytes = utf8.encode(s);
      const at = this.take(bytes.length + 1);
      this.u8().set(bytes, at);
      this.u8()[at + bytes.length] = 0;
      return at;
    });
    try {
      return call(...places);
    } finally {
      places.forEach((at) => this.exports.give(at));
    }
  }

  cString(at) {
    const heap = this.u8();
    return text.decode(heap.subarray(at, heap.indexOf(0, at)));
  }

  json() {
    const at = this.exports.text_at();
    return JSON.parse(text.decode(this.u8().subarray(at, at + this.exports.text_length())));
  }

  error() {
    const x = this.exports;
    const offset = x.error_offset();
    return new BloomeryError(this.cString(x.error_name()), this.cString(x.error_text()),
      offset < 0 ? undefined : offset);
  }

  ok(status) {
    if (status < 0) throw this.error();
    return status;
  }

  host() {
    return {
      host_read: (at, len) => {
        try {
          return this.source(this.u8().subarray(at, at + len));
        } catch (e) {
          this.thrown = e;
          return -1;
        }
      },
      host_write: (at, len) => {
        try {
          this.sink(this.u8().subarray(at, at + len));
          return 1;
        } catch (e) {
          this.thrown = e;
          return 0;
        }
      },
    };
  }

  // What a callback threw, rather than that it failed.
  after(call) {
    this.thrown = null;
    try {
      return call();
    } catch (e) {
      throw this.thrown ?? e;
    }
  }

  want(options = {}) {
    const x = this.exports;
    x.want_nothing();
    for (const name of Object.keys(options))
      if (!OTHERS.has(name)) throw new TypeError(`there is no option ${name}`);
    NUMBERS.forEach((name, i) => {
      const v = options[name];
      if (v === undefined) return;
      const n = Number(v);
      if (!(n >= 0 && n < 2 ** 64) || (WHOLE.has(name) && !Number.isInteger(n)))
        throw new RangeError(`${name} is ${v}: give a ${WHOLE.has(name) ? 'whole ' : ''}number, 0 or above`);
      x.want_number(i, n);
    });
    NAMES.forEach((name, i) => {
      if (options[name] !== undefined) this.with([String(options[name])], (at) => x.want_name(i, at));
    });
    if (options.kind !== undefined && !this.with([options.kind], (at) => x.want_kind(at)))
      throw new RangeError(`there is no kind ${options.kind}`);
    if (options.seed !== undefined) {
      const seed = BigInt(options.seed);
      x.want_seed(BigInt.asIntN(64, seed), BigInt.asIntN(64, seed >> 64n));
    }
    if (options.hash === 'siphash') x.want_siphash();
    else if (options.hash !== undefined && options.hash !== 'xxh3') throw new RangeError(`there is no hash ${options.hash}`);
    if (options.verify) x.want_verify();
    if (options.like) x.want_like(options.like.at);
  }

  // One key, to where the batch begins. Returns its length.
  key(key) {
    const most = mostBytes(key);
    if (most >= this.batch.room) this.batch.reserve(most + 1, 0);
    return put(this.u8(), this.batch.bytes, key);
  }

  // Keys in parts that fit the buffers, so that a batch of any size takes little memory.
  many(filter, work, keys) {
    if (ArrayBuffer.isView(keys) && !(keys instanceof DataView)) return this.fixed(filter, work, bytesOf(keys), keys.BYTES_PER_ELEMENT);
    if (keys && keys.width !== undefined) return this.fixed(filter, work, bytesOf(keys.bytes), keys.width);
    if (keys && keys.offsets !== undefined) return this.packed(filter, work, bytesOf(keys.bytes), keys.offsets);
    const list = Array.isArray(keys) ? keys : Array.from(keys);
    const out = new Uint8Array(list.length);
    for (let done = 0; done < list.length;) {
      const n = this.texts(list, done) || this.each(list, done);
      this.ask(filter, work, n, out, done);
      done += n;
    }
    return out;
  }

  // What the batch holds is asked; the answers go to `out`.
  ask(filter, work, n, out, done) {
    const { batch } = this;
    this.ok(this.exports.many(filter, work, batch.bytes, batch.lengths, n, batch.answers));
    out.set(this.u8().subarray(batch.answers, batch.answers + n), done);
  }

  // Puts strings from `done` on into the batch: as one string, since a call of the encoder takes longer than a key.
  // Returns how many; 0: they have to be put there one by one.
  texts(list, done) {
    const { batch } = this;
    batch.reserve(0, ROWS);
    const lengths = this.u32(batch.lengths, TEXTS);
    const end = Math.min(list.length, done + TEXTS);
    let all = '', i = done;
    for (; i < end && all.length < CHUNK; i++) {
      const key = list[i];
      if (typeof key !== 'string') break;
      lengths[i - done] = key.length;
      all += key;
    }
    const n = i - done;
    if (n < 2) return 0;
    batch.reserve(3 * all.length + 1, 0);
    const heap = this.u8();
    const { written } = utf8.encodeInto(all, heap.subarray(batch.bytes, batch.bytes + 3 * all.length));
    // As many bytes as characters: it is all ASCII.
    return written === all.length || this.exports.cut_text(batch.bytes, batch.lengths, n) ? n : 0;
  }

  each(list, done) {
    const { batch } = this;
    let most = 0, end = done;
    while (end < list.length && end - done < TEXTS && most < CHUNK) most += mostBytes(list[end++]);
    batch.reserve(most + 1, ROWS);
    const heap = this.u8(), lengths = this.u32(batch.lengths, end - done);
    let at = batch.bytes;
    for (let i = done; i < end; i++) at += lengths[i - done] = put(heap, at, list[i]);
    return end - done;
  }

  // Keys side by side: key i is from offsets[i] to offsets[i + 1].
  packed(filter, work, bytes, offsets) {
    if (!(offsets instanceof Uint32Array || offsets instanceof Int32Array) || !offsets.length)
      throw new TypeError('offsets are a Uint32Array or Int32Array, one more than there are keys');
    const count = offsets.length - 1;
    const out = new Uint8Array(count);
    const { batch } = this;
    let wrong = offsets[0] >>> 0 > bytes.length;
    for (let done = 0, n; done < count && !wrong; done += n) {
      batch.reserve(0, ROWS);
      const start = offsets[done];
      const lengths = this.u32(batch.lengths, ROWS);
      const end = Math.min(count, done + ROWS);
      let at = start, i = done;
      for (; i < end && (at - start < CHUNK || i === done); i++) {
        const next = offsets[i + 1];
        wrong ||= next < at;
        lengths[i - done] = next - at;
        at = next;
      }
      wrong ||= at > bytes.length;
      if (wrong) break;
      n = i - done;
      batch.reserve(at - start + 1, 0);
      this.u8().set(bytes.subarray(start, at), batch.bytes);
      this.ask(filter, work, n, out, done);
    }
    if (wrong) throw new RangeError(`offsets must not fall, nor pass the ${bytes.length} bytes`);
    return out;
  }

  fixed(filter, work, bytes, width) {
    if (!Number.isInteger(width) || width < 1 || bytes.length % width)
      throw new RangeError(`${bytes.length} bytes are not keys of ${width} bytes`);
    const count = bytes.length / width;
    const out = new Uint8Array(count);
    const step = Math.max(1, Math.floor(CHUNK / width));
    const { batch } = this;
    for (let i = 0; i < count; i += step) {
      const n = Math.min(step, count - i);
      batch.reserve(n * width, n);
      this.u8().set(bytes.subarray(i * width, (i + n) * width), batch.bytes);
      this.ok(this.exports.fixed(filter, work, batch.bytes, width, n, batch.answers));
      out.set(this.u8().subarray(batch.answers, batch.answers + n), i);
    }
    return out;
  }
}

const forgotten = typeof FinalizationRegistry === 'undefined' ? null
  : new FinalizationRegistry(({ wasm, at }) => wasm.exports.drop(at));

export class Filter {
  constructor(wasm, at) {
    this.wasm = wasm;
    this.at = at;
    forgotten?.register(this, { wasm, at }, this);
  }

  #x() {
    if (!this.at) throw new TypeError('this filter has been freed');
    return this.wasm.exports;
  }

  free() {
    if (!this.at) return;
    forgotten?.unregister(this);
    this.wasm.exports.drop(this.at);
    this.at = 0;
  }

  // Of one key; call(filter, place, length).
  #one(call, key) {
    if (!this.at) this.#x();
    const { wasm } = this;
    const length = wasm.key(key);
    return call(this.at, wasm.batch.bytes, length);
  }

  add(key) { return this.wasm.ok(this.#one(this.wasm.exports.add, key)) === 0; }
  has(key) { return this.#one(this.wasm.exports.check, key) !== 0; }
  count(key) { return this.#one(this.wasm.exports.count, key); }

  remove(key) {
    if (this.#one(this.wasm.exports.remove_key, key) >= 0) return true;
    const e = this.wasm.error();
    if (e.status === 'BLM_E_ABSENT') return false;
    throw e;
  }

  addMany(keys) { this.#x(); return this.wasm.many(this.at, ADD, keys); }
  hasMany(keys) { this.#x(); return this.wasm.many(this.at, CHECK, keys); }
  removeMany(keys) { this.#x(); return this.wasm.many(this.at, REMOVE, keys); }

  positions(key) {
    const x = this.#x();
    const cap = 8192, out = this.wasm.take(8 * cap);
    try {
      const n = this.wasm.ok(this.#one((f, at, len) => x.positions(f, at, len, out, cap), key));
      return Array.from(new BigUint64Array(x.memory.buffer, out, Math.min(n, cap)), Number);
    } finally {
      x.give(out);
    }
  }

  // For pictures of small filters: what each of the first `cap` cells holds.
  cells(cap = 4096) {
    const x = this.#x();
    const out = this.wasm.take(cap);
    try {
      const n = Math.min(cap, x.cells(this.at, out, cap));
      return this.wasm.u8().slice(out, out + n);
    } finally {
      x.give(out);
    }
  }

  #places(positions, call) {
    const at = this.wasm.take(8 * positions.length);
    new BigUint64Array(this.wasm.u8().buffer, at, positions.length).set(positions.map(BigInt));
    try {
      return call(at, positions.length);
    } finally {
      this.wasm.exports.give(at);
    }
  }
  addPositions(positions) { const x = this.#x(); return this.wasm.ok(this.#places(positions, (at, n) => x.add_positions(this.at, at, n))) === 0; }
  hasPositions(positions) { const x = this.#x(); return this.#places(positions, (at, n) => x.check_positions(this.at, at, n)) !== 0; }

  layer(i = 0) {
    const x = this.#x();
    const at = x.view(this.at, i);
    return at ? this.wasm.u8().slice(at, at + x.last_length()) : null;
  }

  info({ name = '', slices = 0 } = {}) {
    const x = this.#x();
    this.wasm.ok(this.wasm.with([name], (at) => x.info(this.at, at, slices)));
    return this.wasm.json();
  }

  compare(other, names = ['', '']) {
    const x = this.#x();
    this.wasm.ok(this.wasm.with(names, (a, b) => x.compare(this.at, other.at, a, b)));
    return this.wasm.json();
  }

  measure(trials = 100000, seed = 1) {
    const x = this.#x();
    this.wasm.ok(x.try_rate(this.at, trials, BigInt(seed)));
    return this.wasm.json();
  }

  #format(format, call) {
    return format === undefined ? call(0) : this.wasm.with([format], call);
  }

  // Gives the bytes to `write` in pieces, which are valid during the call only.
  saveTo(write, format) {
    const x = this.#x();
    this.wasm.sink = write;
    this.wasm.after(() => this.wasm.ok(this.#format(format, (at) => x.encode(this.at, at))));
  }

  savedSize(format) {
    const x = this.#x();
    this.wasm.ok(this.#format(format, (at) => x.encoded_size(this.at, at)));
    return x.last_length();
  }

  save(format) {
    const out = new Uint8Array(this.savedSize(format));
    let at = 0;
    this.saveTo((bytes) => { out.set(bytes, at); at += bytes.length; }, format);
    return out;
  }

  setFunnel(name) { const x = this.#x(); this.wasm.ok(this.wasm.with([name], (at) => x.set_funnel(this.at, at))); }
  // The funnel that fits keys given in an encoding of the command line's -e.
  setEncoding(name) { const x = this.#x(); this.wasm.ok(this.wasm.with([name], (at) => x.set_encoding(this.at, at))); }
  clear() { this.wasm.ok(this.#x().clear(this.at)); }
  equals(other) { return this.#x().equal(this.at, other.at) !== 0; }
  union(other) { this.wasm.ok(this.#x().join(this.at, 0, other.at)); return this; }
  intersect(other) { this.wasm.ok(this.#x().join(this.at, 1, other.at)); return this; }

  #made(how, factor = 0) {
    const at = this.#x().make(this.at, how, factor);
    if (!at) throw this.wasm.error();
    return new Filter(this.wasm, at);
  }
  copy() { return this.#made(0); }
  fold(factor) { return this.#made(1, factor); }
  reduce() { return this.#made(2); }

  fingerprint() {
    const x = this.#x();
    const out = this.wasm.take(16);
    try {
      this.wasm.ok(x.fingerprint(this.at, out));
      return Array.from(this.wasm.u8().subarray(out, out + 16), (b) => b.toString(16).padStart(2, '0')).join('');
    } finally {
      x.give(out);
    }
  }
}

class Bloomery {
  #wasm;
  constructor(wasm) { this.#wasm = wasm; }

  get version() { return this.#wasm.cString(this.#wasm.exports.version()); }

  #given(at) {
    if (!at) throw this.#wasm.error();
    return new Filter(this.#wasm, at);
  }

  create(options) {
    this.#wasm.want(options);
    return this.#given(this.#wasm.exports.create());
  }

  open(source, options) {
    const bytes = bytesOf(source);
    const x = this.#wasm.exports;
    const at = this.#wasm.take(bytes.length);
    try {
      this.#wasm.u8().set(bytes, at);
      this.#wasm.want(options);
      return this.#given(x.decode(at, bytes.length));
    } finally {
      x.give(at);
    }
  }

  // `read` puts bytes into the view that it is given and returns how many; 0 is the end.
  openFrom(read, options) {
    this.#wasm.want(options);
    this.#wasm.source = read;
    return this.#wasm.after(() => this.#given(this.#wasm.exports.decode_stream()));
  }

  sniff(head, total = 0) {
    const bytes = bytesOf(head);
    const at = this.#wasm.take(bytes.length);
    this.#wasm.u8().set(bytes, at);
    this.#wasm.exports.sniff(at, bytes.length, total);
    this.#wasm.exports.give(at);
    return this.#wasm.json();
  }

  calculate(options) {
    this.#wasm.want(options);
    this.#wasm.ok(this.#wasm.exports.calculate());
    const result = this.#wasm.json();
    return Object.assign(result, {
      rateWith: (row, probes, items) => this.#wasm.exports.rate_with(row, probes, items),
      bytesFor: (row, rate) => this.#wasm.exports.bytes_for(row, rate),
    });
  }

  schemes() {
    this.#wasm.exports.schemes();
    return this.#wasm.json();
  }

  // The key that a line is in an encoding of the command line's -e; null: it is not in it.
  decodeKey(encoding, line) {
    const bytes = typeof line === 'string' ? utf8.encode(line) : bytesOf(line);
    const x = this.#wasm.exports;
    const from = this.#wasm.take(bytes.length), to = this.#wasm.take(Math.max(8, bytes.length));
    this.#wasm.u8().set(bytes, from);
    const n = this.#wasm.with([encoding], (at) => x.decode_key(at, from, bytes.length, to));
    const key = n < 0 ? null : this.#wasm.u8().slice(to, to + n);
    x.give(from);
    x.give(to);
    return key;
  }

  readNumber(how, s) {
    const v = this.#wasm.with([s], (at) => this.#wasm.exports.read_number(['count', 'size', 'rate', 'time'].indexOf(how), at));
    return v < 0 ? null : v;
  }

  writeNumber(how, v) {
    return this.#wasm.cString(this.#wasm.exports.write_number(['count', 'size', 'rate', 'option'].indexOf(how), v));
  }
}

// A function that gives a vector: is that a module?
const hasVectors = () => WebAssembly.validate(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0,
  10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11]));

async function moduleBytes() {
  const url = hasVectors() ? new URL('./bloomery-simd.wasm', import.meta.url) : new URL('./bloomery.wasm', import.meta.url);
  if (url.protocol === 'file:' && typeof process !== 'undefined') {
    const { readFile } = await import('node:fs/promises');
    return readFile(url);
  }
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${answer.statusText}`);
  return answer.arrayBuffer();
}

export async function load(source) {
  const compiled = source instanceof WebAssembly.Module ? source
    : await WebAssembly.compile(source ?? await moduleBytes());
  let wasm = null;
  const view = () => new DataView(wasm.exports.memory.buffer);
  const system = {
    random_get(at, len) {
      crypto.getRandomValues(wasm.u8().subarray(at, at + len));
      return 0;
    },
    clock_time_get(id, precision, at) {
      const ms = id === 0 ? Date.now() : performance.now();
      view().setBigUint64(at, BigInt(Math.round(ms * 1e6)), true);
      return 0;
    },
    environ_sizes_get(count, size) {
      view().setUint32(count, 0, true);
      view().setUint32(size, 0, true);
      return 0;
    },
    environ_get: () => 0,
  };
  // What else the C library imports is for files, of which there are none: "not supported".
  const files = new Proxy(system, { get: (known, name) => known[name] ?? (() => 58) });
  let host = null;
  const imports = {
    wasi_snapshot_preview1: Object.fromEntries(WebAssembly.Module.imports(compiled)
      .filter((i) => i.module === 'wasi_snapshot_preview1').map((i) => [i.name, files[i.name]])),
    host: { host_read: (...a) => host.host_read(...a), host_write: (...a) => host.host_write(...a) },
  };
  const { exports } = await WebAssembly.instantiate(compiled, imports);
  wasm = new Wasm(exports);
  host = wasm.host();
  return new Bloomery(wasm);
}
