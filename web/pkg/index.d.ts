// SPDX-License-Identifier: MIT
/** A key: the bytes of a view, or the UTF-8 bytes of a string. */
export type Key = string | ArrayBufferView;
/**
 * Many keys: any iterable of keys; a typed array, whose elements are the keys (little-endian, as
 * they lie in memory); keys of one width side by side; or keys of any lengths side by side, key i from
 * offsets[i] to offsets[i + 1] (one more than there are keys, as Arrow has them).
 */
export type Keys = Iterable<Key> | Uint8Array | Uint16Array | Uint32Array | BigUint64Array | Int8Array | Int16Array
  | Int32Array | BigInt64Array | Float32Array | Float64Array | { bytes: ArrayBufferView | ArrayBuffer; width: number }
  | { bytes: ArrayBufferView | ArrayBuffer; offsets: Uint32Array | Int32Array };
export type Kind = 'classic' | 'blocked' | 'counting' | 'scalable' | 'window' | 'cuckoo' | 'static' | 'cascade';

/** What you want. Sizes: items and rate, items and memory, bits and probes, memory and rate. */
export interface Options {
  items?: number;
  rate?: number;
  bits?: number;
  probes?: number;
  memory?: number;
  /** blocked if nothing else follows from the options */
  kind?: Kind;
  scheme?: string;
  lines?: number;
  growth?: number;
  tightening?: number;
  windowMs?: number;
  slack?: number;
  /** 128 bits; without it the seed is random */
  seed?: bigint | number | string;
  hash?: 'xxh3' | 'siphash';
  variant?: number;
  version?: number;
  funnel?: string;
  maxBytes?: number;
  /** the parameters and the seed of this filter, so that both can be combined */
  like?: Filter;
}

export interface OpenOptions extends Options {
  /** the format's name; without it, it is found from the bytes */
  format?: string;
  /** the byte at which the filter starts */
  offset?: number;
  /** check every checksum first */
  verify?: boolean;
}

export interface Estimate { value: number; low: number; high: number | null; saturated: boolean }

/** What `bloomery info --json` prints (docs/json.md), and a little more. */
export interface Info {
  format: string;
  scheme: string;
  scheme_version: number;
  hash: string;
  variant: number;
  kind: Kind;
  bits: number;
  probes: number;
  lines: number | null;
  bytes: number;
  capacity: number | null;
  items: number;
  rate_promised: number | null;
  estimated: Estimate;
  ones: number;
  fill: number;
  rate_now: number;
  overfilled: boolean;
  stuck: number | null;
  seed_policy: 'random' | 'fixed' | 'none';
  seed: string | null;
  layers: object[];
  window: object | null;
  notice: string | null;
  faults: string | null;
  warning: string | null;
  cell_bits: number;
  line_bytes: number;
  funnel: string | null;
  /** the fill of equal parts, where `slices` were asked for */
  regions?: number[];
  [more: string]: unknown;
}

export interface Overlap { keys_a: Estimate; keys_b: Estimate; both: Estimate; either: Estimate; jaccard: Estimate }
export interface Trial { trials: number; maybe: number; measured: number; low: number; high: number }
export interface Plan {
  kind: Kind;
  default: boolean;
  items: number;
  rate: number;
  bits: number;
  probes: number;
  bytes: number;
  bits_per_item: number;
  lines: number | null;
  fits: boolean;
  bytes_needed: number | null;
}
export interface Calculation {
  asked: { items: number | null; rate: number | null; bits: number | null; memory: number | null; probes: number | null };
  textbook: { items: number; rate: number; bits: number; probes: number; bytes: number; bits_per_item: number } | null;
  plans: Plan[];
  /** The rate of plan `row` with other probes (0: its own) and keys in it. Until the next calculation. */
  rateWith(row: number, probes: number, items: number): number;
  /** Bytes that the kind of plan `row` takes at another rate; 0: it cannot reach it. */
  bytesFor(row: number, rate: number): number;
}

/** A call failed, and nothing changed. */
export class BloomeryError extends Error {
  /** the library's name of it, "BLM_E_FORMAT" */
  status: string;
  /** the byte of the input at which the fault is */
  offset?: number;
}

/** Freed when it is collected, or at once by free. */
export class Filter {
  free(): void;
  /** true: the key is new. false: it was probably added before. */
  add(key: Key): boolean;
  /** false is "no", true is "maybe". */
  has(key: Key): boolean;
  /** Counting and cuckoo. false: the key was never added. */
  remove(key: Key): boolean;
  count(key: Key): number;
  /** A 1 for each key that is new, or may be there, or was taken back; else 0. */
  addMany(keys: Keys): Uint8Array;
  hasMany(keys: Keys): Uint8Array;
  removeMany(keys: Keys): Uint8Array;
  /** The cells of a key, in probe order, layer after layer. */
  positions(key: Key): number[];
  /** What each of the first `cap` cells holds, layer after layer: a bit, a counter, or 1 for a fingerprint. */
  cells(cap?: number): Uint8Array;
  addPositions(positions: number[]): boolean;
  hasPositions(positions: number[]): boolean;
  /** A copy of a layer's bytes; null: there is no such layer. */
  layer(i?: number): Uint8Array | null;
  info(options?: { name?: string; slices?: number }): Info;
  compare(other: Filter, names?: [string, string]): Overlap;
  /** Asks for keys that were never added. */
  measure(trials?: number, seed?: number | bigint): Trial;
  /** The bytes in a format; without one, the format it came from, else native. */
  save(format?: string): Uint8Array;
  savedSize(format?: string): number;
  /** In pieces, each valid during its call. */
  saveTo(write: (bytes: Uint8Array) => void, format?: string): void;
  setFunnel(name: string): void;
  setEncoding(name: 'text' | 'hex' | 'int32' | 'int64' | 'float' | 'double' | 'base64'): void;
  clear(): void;
  equals(other: Filter): boolean;
  union(other: Filter): this;
  intersect(other: Filter): this;
  copy(): Filter;
  fold(factor: number): Filter;
  reduce(): Filter;
  /** 32 hexadecimal digits that identify parameters, seed and bits. */
  fingerprint(): string;
}

export interface Bloomery {
  readonly version: string;
  create(options: Options): Filter;
  /** A filter of any format that `schemes().formats` lists. */
  open(bytes: ArrayBufferView | ArrayBuffer, options?: OpenOptions): Filter;
  /** `read` fills the view from its start and returns how many bytes; 0 is the end. */
  openFrom(read: (into: Uint8Array) => number, options?: OpenOptions): Filter;
  sniff(head: ArrayBufferView | ArrayBuffer, total?: number): { format: string; bid: number }[];
  calculate(options: Options): Calculation;
  /** What `bloomery schemes --json` prints. */
  schemes(): { schemes: any[]; formats: any[]; kinds: any[] };
  decodeKey(encoding: string, line: string | ArrayBufferView): Uint8Array | null;
  /** Numbers as the command line reads and writes them. null: it does not. */
  readNumber(how: 'count' | 'size' | 'rate' | 'time', text: string): number | null;
  writeNumber(how: 'count' | 'size' | 'rate' | 'option', value: number): string;
}

/** Compiles the module: its own file, or the bytes or the module that you give. */
export function load(source?: BufferSource | WebAssembly.Module): Promise<Bloomery>;
