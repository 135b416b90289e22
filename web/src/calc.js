// SPDX-License-Identifier: MIT
// The calculator. A field is given (typed) or follows. Of keys, rate and size two are given at most:
// typing the third lets the one go that was typed longest ago.
import { $, t, el, state, count, size, rate, percent, copyText, copyButton, onChange } from './page.js';
import { draw, note } from './chart.js';
import { makeLines } from './lines.mjs';

const READ = { n: 'count', p: 'rate', memory: 'size', m: 'count', k: 'count' };
const OPTION = { n: 'items', p: 'rate', memory: 'memory', m: 'bits', k: 'probes' };
const GROUP = { n: 'n', p: 'p', memory: 'size', m: 'size' };
const FIELDS = Object.keys(READ);
const TENS = { k: 3, K: 3, M: 6, G: 9, B: 9, T: 12 };

let given = new Map(); // field → text, oldest first
let beside = null; // the second configuration, as a hash
let later = 0;

// What people type and the command line does not: 10M keys, 64 MiB with a space, 1 in 1000.
export function plain(field, text) {
  let s = text.trim().replace(/,/g, '');
  if (READ[field] === 'count') {
    const m = /^([\d._]+)\s*([kKMGBT])$/.exec(s);
    if (m) s = `${m[1]}e${TENS[m[2]]}`;
  } else if (READ[field] === 'rate') {
    const m = /^1\s*(?:\/|in|:)\s*(\S+)$/.exec(s);
    const one = m && state.bloomery.readNumber('count', m[1]);
    if (one) s = String(1 / one);
    s = s.replace(/\s+%$/, '%');
  } else {
    s = s.replace(/\s+/g, '');
  }
  return s;
}

const read = (field, text) => state.bloomery.readNumber(READ[field], plain(field, text));

function give(field, text) {
  given.delete(field);
  if (text.trim() === '') return;
  for (const other of [...given.keys()]) if (GROUP[field] && GROUP[other] === GROUP[field]) given.delete(other);
  given.set(field, text);
  const main = [...given.keys()].filter((f) => GROUP[f]);
  if (main.length > 2) given.delete(main[0]);
}

// ---- the hash: #n=1e6&p=0.01&kind=blocked, and |… for the one beside ----

const toHash = () => new URLSearchParams([...[...given].map(([f, v]) => [f, v.trim()]), ['kind', $('kind').value]]).toString();

function fromHash(hash) {
  const params = new URLSearchParams(hash);
  const out = new Map();
  for (const f of FIELDS) if (params.get(f)) out.set(f, params.get(f));
  return { fields: out, kind: params.get('kind') };
}

export function hashOf() {
  return `#${toHash()}${beside ? `|${beside}` : ''}`;
}

export function takeHash(hash) {
  const [first, second] = hash.replace(/^#/, '').split('|');
  const { fields, kind } = fromHash(first);
  if (!fields.size) return false;
  given = new Map();
  fields.forEach((v, f) => give(f, v));
  if (kind && [...$('kind').options].some((o) => o.value === kind)) $('kind').value = kind;
  beside = second || null;
  return true;
}

// ---- working it out ----

function solve(fields, kind) {
  const options = {}, wrong = [];
  fields.forEach((text, f) => {
    const v = read(f, text);
    if (v === null || v === 0) wrong.push(f);
    else options[OPTION[f]] = v;
  });
  if (wrong.length) return { wrong };
  try {
    const all = state.bloomery.calculate(options);
    const row = all.plans.findIndex((p) => p.kind === kind);
    if (row < 0) return { wrong: [], error: new Error(whyNot({ ...options, kind })) };
    return { wrong: [], all, options, plan: all.plans[row], row };
  } catch (error) {
    return { wrong: [], error };
  }
}

function whyNot(options) {
  try {
    state.bloomery.calculate(options);
    return '';
  } catch (e) {
    return e.message;
  }
}

// Points of the three charts. They must be taken before the next calculation.
function curvesOf(all, row) {
  const plan = all.plans[row], grows = plan.kind === 'scalable';
  const n = { x: [], y: [], point: [plan.items, plan.rate] };
  const last = (grows ? 1 : 2) * plan.items, steps = Math.min(60, last);
  for (let i = 1; i <= steps; i++) {
    const x = Math.round(last * i / steps);
    n.x.push(x);
    n.y.push(all.rateWith(row, 0, x));
  }
  const k = { x: [], y: [], point: [plan.probes, plan.rate], dots: true };
  if (!['cuckoo', 'static'].includes(plan.kind)) {
    // Equally many in each line; without lines up to twice the best, in some twenty points.
    const most = plan.lines ? 8 * plan.lines : Math.min(60, Math.max(8, 2 * plan.probes));
    const step = plan.lines || Math.ceil(most / 20);
    for (let i = plan.lines || 1; i <= most; i += step) {
      const y = all.rateWith(row, i, plan.items);
      if (y > 0) { k.x.push(i); k.y.push(y); }
    }
  }
  const m = { x: [], y: [], point: [plan.rate, plan.bytes] };
  for (let e = -1; e >= -9; e--) {
    const bytes = all.bytesFor(row, 10 ** e);
    if (bytes > 0) { m.x.unshift(10 ** e); m.y.unshift(bytes); }
  }
  return { n, k, m };
}

// ---- showing it ----

function showFields(r) {
  const values = r.plan && { n: count(r.plan.items), p: rate(r.plan.rate), memory: size(r.plan.bytes), m: count(r.plan.bits), k: String(r.plan.probes) };
  for (const f of FIELDS) {
    const input = $(f), typed = given.has(f), bad = r.wrong.includes(f);
    if (document.activeElement !== input || !typed) input.value = typed ? given.get(f) : values?.[f] ?? '';
    input.classList.toggle('given', typed);
    input.classList.toggle('follows', !typed);
    input.setAttribute('aria-invalid', bad);
    input.setAttribute('aria-describedby', `${f}-hint`);
    $(`${f}-hint`).textContent = bad ? t('bad.number') : !typed ? t('follows') : values ? (f === 'p' ? (r.options.rate !== undefined ? rate(r.options.rate) : '') : f === 'memory' ? size(r.options.memory) : count(r.options[OPTION[f]])) : t('given');
    const release = document.querySelector(`.release[data-for=${f}]`);
    release.hidden = !typed;
    release.textContent = '×';
    release.setAttribute('aria-label', t('release', { what: t(`f.${f}`) }));
  }
  $('kind-hint').textContent = t(`kind.${$('kind').value}`);
}

const bitsOf = (plan) => plan.bits * (plan.cell_bits ?? 1);

const probesText = (plan) => t(plan.probes === 1 ? 'probe.1' : 'probe.n', { k: plan.probes })
  + (plan.kind !== 'blocked' ? '' : t(plan.lines === 1 ? 'lines.1' : 'lines.n', { l: plan.lines }));

function saying(plan) {
  const one = 1 / plan.rate;
  return t(plan.kind === 'counting' ? 'say.counters' : 'say', { kind: plan.kind, keys: count(plan.items), one: count(one), rate: rate(plan.rate), bits: plan.bits_per_item.toFixed(2), probes: probesText(plan) });
}

// What another system would really make of it, by making it (while it is small).
function original(scheme, n, p, variant) {
  if (n * Math.log(1 / p) > 5e7) return null;
  let f = null;
  try {
    f = state.bloomery.create({ scheme, items: n, rate: p, variant });
    return f.info();
  } catch {
    return null;
  } finally {
    f?.free();
  }
}

// What each line's filter has, beside its name.
function showMade(r, others) {
  const { plan } = r, made = { Shell: plan, C: plan, Python: plan, ...others };
  for (const dt of $('lines').querySelectorAll('dt')) {
    const f = made[dt.dataset.name];
    dt.querySelector('.made').textContent = f && f.probes ? t('lines.makes', { bits: count(bitsOf(f)), probes: t(f.probes === 1 ? 'probe.1' : 'probe.n', { k: f.probes }) }) : '';
  }
}

// The size of a static filter follows from its keys and the rate.
const tooLarge = (plan, options) => !plan.fits && plan.bytes > (options.memory ?? Infinity);

function warnings(r) {
  const out = [], { plan, options } = r;
  const asked = options.rate;
  if (plan.probes > 20) out.push(t('warn.k', { k: plan.probes }));
  if (plan.rate > 0.2) out.push(t('warn.useless', { rate: rate(plan.rate) }));
  else if (plan.rate >= 1e-3 && plan.items * plan.rate >= 1) out.push(t('warn.lax', { n: count(plan.items), wrong: count(plan.items * plan.rate) }));
  if (tooLarge(plan, options)) out.push(t('warn.large', { need: size(plan.bytes) }));
  else if (asked && !plan.fits) out.push(t('warn.full', { rate: rate(plan.rate), asked: rate(asked), need: plan.bytes_needed ? size(plan.bytes_needed) : '∞' }));
  const fill = 1 - Math.exp(-plan.probes * plan.items / plan.bits);
  if (plan.kind === 'classic' && fill > 0.6) out.push(t('warn.half', { fill: percent(Number(fill.toPrecision(3))) }));
  if (plan.bytes > 64 * 2 ** 30) out.push(t('warn.big', { size: size(plan.bytes) }));
  const p = asked ?? plan.rate, n = plan.items;
  const guava = original('guava', n, p);
  if (guava) {
    const m = guava.bits, k = guava.probes, theirs = (1 - Math.exp(-k * n / m)) ** k;
    out.push(t('warn.guava', { bits: count(m), k, rate: rate(theirs) }));
  }
  // As the line beside it: NONSCALING is RedisBloom's options NOROUND, FORCE64 and NO_SCALING.
  const redis = original('redisbloom', n, p, plan.kind === 'scalable' ? undefined : 13);
  const cuckoo = plan.kind === 'cuckoo' || plan.kind === 'counting';
  const chosen = (options.memory || options.bits) && !asked;
  showMade(r, { 'Java (Guava)': guava, Go: chosen ? { bits: plan.bits, probes: plan.probes } : original('go', n, p), Redis: cuckoo ? null : redis });
  if (redis) out.push(t('warn.redis', { bits: count(redis.bits), k: redis.probes, more: `${redis.bits >= bitsOf(plan) ? '+' : ''}${percent(Number((redis.bits / bitsOf(plan) - 1).toPrecision(2)))}` }));
  return out;
}

function showTable(r) {
  const heads = ['kind', 'memory', 'bits', 'per', 'k', 'n', 'p', 'note'].map((c) => el('th', { scope: 'col', text: t(`col.${c}`) || ' ' }));
  heads[7] = el('td', { text: '' });
  const cells = (p) => [size(p.bytes), count(bitsOf(p)), p.bits_per_item.toFixed(2), String(p.probes), count(p.items), rate(p.rate)].map((text) => el('td', { text }));
  const rows = r.all.textbook ? [el('tr', {}, el('th', { scope: 'row', text: t('textbook') }), ...cells(r.all.textbook), el('td'))] : [];
  for (const p of r.all.plans) {
    const notes = [p.kind === 'scalable' ? t('note.first') : p.fits ? '' : t(tooLarge(p, r.options) ? 'note.large' : 'note.high'), p.default ? t('note.default') : ''].filter(Boolean).join(', ');
    const choose = el('button', { type: 'button', text: p.kind, 'aria-pressed': String(p.kind === r.plan.kind), onclick: () => { $('kind').value = p.kind; update(); $('plans').querySelector('[aria-pressed=true]')?.focus(); } });
    rows.push(el('tr', { class: p.kind === r.plan.kind ? 'chosen' : '', 'data-kind': p.kind }, el('th', { scope: 'row' }, choose), ...cells(p), el('td', { text: notes })));
  }
  $('plans').replaceChildren(el('caption', { class: 'unseen', text: t('size.table') }), el('thead', {}, el('tr', {}, ...heads)), el('tbody', {}, ...rows));
}

// The last calculation is the one that curves are taken from, so it is made again.
function withCurves(fields, kind) {
  const r = solve(fields, kind);
  if (r.plan) r.curves = curvesOf(r.all, r.row);
  return r;
}

function showCharts() {
  const b = beside && fromHash(beside);
  const other = b && withCurves(b.fields, b.kind), r = withCurves(given, $('kind').value);
  if (!r.plan) return;
  const short = (v) => (v >= 1e9 ? `${+(v / 1e9).toPrecision(3)}G` : v >= 1e6 ? `${+(v / 1e6).toPrecision(3)}M` : v >= 1e4 ? `${+(v / 1e3).toPrecision(3)}k` : `${+v.toPrecision(3)}`);
  const power = (v) => (v >= 0.001 ? percent(Number(v.toPrecision(2))) : v.toExponential(0));
  const pair = (name) => [r.curves[name], other?.curves?.[name]];
  draw($('chart-n'), { series: pair('n'), logY: 10, xText: short, yText: power, title: t('chart.n') });
  if (r.curves.k.x.length > 1) draw($('chart-k'), { series: pair('k'), logY: 10, xText: short, yText: power, title: t('chart.k') });
  else note($('chart-k'), t('chart.none'));
  draw($('chart-m'), { series: pair('m'), logX: 10, logY: 2, xText: power, yText: (v) => size(v).replace('.0 ', ' '), title: t('chart.m') });
}

function showBeside(r, other) {
  $('beside').hidden = !other?.plan;
  if (!other?.plan) return;
  const drop = el('button', { type: 'button', class: 'plain', text: t('size.drop'), onclick: () => { beside = null; update(); } });
  $('beside').replaceChildren(
    el('p', { text: t('beside', { what: `${size(other.plan.bytes)}. ${saying(other.plan)}` }) }),
    el('p', { text: t('beside.ratio', { ratio: +(other.plan.bytes / r.plan.bytes).toPrecision(3) }) }), drop);
}

export function update(keepHash) {
  const kind = $('kind').value;
  let other = null;
  if (beside) {
    const b = fromHash(beside);
    other = solve(b.fields, b.kind);
  }
  const r = solve(given, kind);
  if (!r.plan && r.error === undefined && !r.wrong.length) return;
  showFields(r);
  $('calc-error').hidden = !r.error;
  $('calc-error').textContent = r.error?.message ?? '';
  if (!r.plan) return;
  $('big').textContent = size(r.plan.bytes);
  $('say').textContent = saying(r.plan);
  showBeside(r, other);
  showTable(r);
  $('lines').replaceChildren(...makeLines(r.options, r.plan, kind).flatMap(([name, line]) => [
    el('dt', { 'data-name': name, text: name }, el('span', { class: 'made' })), el('dd', {}, el('pre', { tabindex: 0, role: 'region', 'aria-label': name, text: line }), copyButton(line, name))]));
  // Charts and the other systems' numbers take a moment: after the last keystroke.
  const asked = $('fields').dataset.asked = hashOf();
  clearTimeout(later);
  later = setTimeout(() => {
    $('warnings').replaceChildren(...warnings(r).map((text) => el('li', { text })));
    showCharts();
    document.documentElement.dataset.drawn = asked;
  }, 80);
  if (!keepHash && !$('size').hidden) history.replaceState(null, '', hashOf());
}

export function start() {
  const kinds = state.bloomery.schemes().kinds;
  $('kind').replaceChildren(...kinds.map((k) => el('option', { value: k.name, text: k.name })));
  $('kind').value = kinds.find((k) => k.default).name;
  if (!takeHash(location.hash)) {
    give('n', '1e6');
    give('p', '1%');
  }
  for (const f of FIELDS) {
    $(f).addEventListener('input', () => { give(f, $(f).value); update(); });
    $(f).addEventListener('focus', () => { if (!given.has(f)) $(f).select(); });
    $(f).addEventListener('blur', () => update());
    document.querySelector(`.release[data-for=${f}]`).addEventListener('click', () => { given.delete(f); if (!given.size) give('n', '1e6'); update(); $(f).focus(); });
  }
  $('kind').addEventListener('change', () => update());
  $('fields').addEventListener('submit', (e) => e.preventDefault());
  $('keep').addEventListener('click', () => { beside = toHash(); update(); });
  $('share').addEventListener('click', async () => {
    await copyText(location.href.replace(/#.*/, '') + hashOf());
    $('share').textContent = t('copied');
    setTimeout(() => { $('share').textContent = t('size.share'); }, 1500);
  });
  let wait = 0;
  addEventListener('resize', () => { clearTimeout(wait); wait = setTimeout(() => { if (!$('size').hidden) update(true); }, 150); });
  onChange(() => { if (!$('size').hidden) update(true); });
}
