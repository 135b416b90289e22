// SPDX-License-Identifier: MIT
// Filters of files, away from the page: reading, asking and converting a large one takes seconds,
// and the page must not wait. One message, one answer.
const { load } = globalThis.bloomeryPackage; // pkg/index.js, which boot.js puts before this

const WHOLE = 64 << 20; // files up to this size are read at once; larger ones as a stream
const HEAD = 4096;
const filters = new Map();
let bloomery = null;
let next = 1;

// As the program: the format that bids most for the first bytes and the length.
function choose(file, options) {
  if (options.format) return options;
  const head = new Uint8Array(new FileReaderSync().readAsArrayBuffer(file.slice(0, HEAD)));
  const bids = bloomery.sniff(head, file.size);
  return bids.length && (bids.length === 1 || bids[0].bid > bids[1].bid) ? { ...options, format: bids[0].format } : options;
}

function stream(file, options, tell) {
  const reader = new FileReaderSync();
  let block = new Uint8Array(0), used = 0, at = 0;
  return bloomery.openFrom((into) => {
    if (used === block.length) {
      block = new Uint8Array(reader.readAsArrayBuffer(file.slice(at, at + (4 << 20))));
      used = 0;
      at += block.length;
      tell(at / file.size);
    }
    const n = Math.min(into.length, block.length - used);
    into.set(block.subarray(used, used + n));
    used += n;
    return n;
  }, choose(file, options));
}

const does = {
  start: async ({ module }) => { bloomery = await load(module); },
  open({ file, name, options, slices }, tell) {
    const filter = file.size <= WHOLE ? bloomery.open(new FileReaderSync().readAsArrayBuffer(file), options) : stream(file, options, tell);
    filters.set(next, filter);
    return { id: next++, info: filter.info({ name, slices }) };
  },
  ask({ id, lines, encoding }) {
    const filter = filters.get(id);
    filter.setEncoding(encoding);
    const keys = [];
    for (let i = 0; i < lines.length; i++) {
      const key = bloomery.decodeKey(encoding, lines[i]);
      if (!key) return { bad: i + 1 };
      keys.push(key);
    }
    return { answers: filter.hasMany(keys) };
  },
  formats({ id }) {
    return bloomery.schemes().formats.filter((f) => f.writes).map((f) => f.name).filter((name) => {
      try { return filters.get(id).savedSize(name) > 0; } catch { return false; }
    });
  },
  save({ id, format }) { return { bytes: filters.get(id).save(format) }; },
  compare({ a, b, names }) { return filters.get(a).compare(filters.get(b), names); },
  close({ id }) { filters.get(id)?.free(); filters.delete(id); },
};

onmessage = async ({ data: { call, what, ...more } }) => {
  try {
    const result = await does[what](more, (share) => postMessage({ call, share }));
    postMessage({ call, result }, result?.bytes ? [result.bytes.buffer] : []);
  } catch (e) {
    postMessage({ call, error: { message: e.message, status: e.status, offset: e.offset } });
  }
};
