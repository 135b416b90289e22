// SPDX-License-Identifier: MIT
// Files: what they are, how full, what is in them, and into which formats they go.
import { $, t, el, state, count, size, rate, percent, onChange } from './page.js';

const SLICES = 512;
const SHOWN = 200; // answers in the table; the counts are of all
let worker = null;
let opened = []; // {id, name, info, formats, answers}

// ---- the worker ----

const waiting = new Map();
let calls = 0;

function ask(what, more = {}, tell) {
  const call = ++calls;
  worker.postMessage({ call, what, ...more });
  return new Promise((resolve, reject) => waiting.set(call, { resolve, reject, tell }));
}

function answered({ data: { call, result, error, share } }) {
  const w = waiting.get(call);
  if (share !== undefined) { w.tell?.(share); return; }
  waiting.delete(call);
  if (error) w.reject(Object.assign(new Error(error.message), error));
  else w.resolve(result);
}

// ---- opening ----

function options() {
  const as = $('as').value;
  if (!as) return {};
  if (as !== 'raw') return { format: as };
  const number = (id) => state.bloomery.readNumber('count', $(id).value.trim()) ?? undefined;
  const out = { format: as, scheme: $('raw-scheme').value, bits: number('raw-m'), probes: number('raw-k') };
  return Object.fromEntries(Object.entries(out).filter(([, v]) => v !== undefined));
}

async function openFiles(files) {
  $('open-error').hidden = true;
  for (const file of files) {
    $('reading').hidden = false;
    $('reading').value = 0;
    try {
      const { id, info } = await ask('open', { file, name: file.name, options: options(), slices: SLICES }, (share) => { $('reading').value = share; });
      const formats = await ask('formats', { id });
      opened.push({ id, name: file.name, info, formats });
    } catch (e) {
      $('open-error').textContent = `${file.name}: ${e.message}`;
      $('open-error').hidden = false;
    }
    $('reading').hidden = true;
  }
  await show();
  $('opened').lastElementChild?.querySelector('h2')?.focus();
}

// ---- showing ----

function picture(info) {
  const canvas = el('canvas', { class: 'map', width: info.regions.length, height: 1, 'aria-hidden': 'true' });
  const paint = canvas.getContext('2d');
  const style = getComputedStyle(document.documentElement);
  const set = style.getPropertyValue('--set').trim();
  info.regions.forEach((v, i) => {
    paint.globalAlpha = Math.min(1, v);
    paint.fillStyle = set;
    paint.fillRect(i, 0, 1, 1);
  });
  return canvas;
}

function estimate(e) {
  return e.saturated ? t('i.saturated', { v: count(e.low) }) : t('i.range', { v: count(e.value), low: count(Math.max(0, e.low)), high: e.high === null ? '∞' : count(e.high) });
}

function figures(info) {
  const rows = [
    ['size', size(info.bytes)], ['cells', `${count(info.bits)}${info.cell_bits > 1 ? ` × ${info.cell_bits}` : ''}`], ['probes', info.probes],
    ['capacity', info.capacity ? count(info.capacity) : t('i.unknown')], ['promised', info.rate_promised ? rate(info.rate_promised) : t('i.unknown')],
    ['items', info.items || info.ones === 0 ? count(info.items) : t('i.unknown')], ['keys', estimate(info.estimated)], ['fill', percent(info.fill)], ['rate', rate(info.rate_now)],
    ['hash', info.hash], ['seed', info.seed ?? info.seed_policy], ['layers', info.layers.length],
  ];
  return el('dl', { class: 'figures' }, ...rows.map(([name, value]) => el('div', { 'data-figure': name }, el('dt', { text: t(`i.${name}`) }), el('dd', { text: value }))));
}

function askForm(file) {
  const area = el('textarea', { id: `keys-${file.id}`, spellcheck: 'false' });
  const encoding = el('select', { id: `encoding-${file.id}` }, ...['text', 'hex', 'int32', 'int64', 'float', 'double', 'base64'].map((e) => el('option', { value: e, text: e === 'text' ? t('ask.text') : e })));
  const said = el('p', { role: 'status', class: 'said' });
  const table = el('div', { class: 'answers', tabindex: 0, role: 'region', 'aria-label': t('answer') });
  table.hidden = true;
  const go = async () => {
    const lines = area.value.split('\n');
    if (lines.at(-1) === '') lines.pop();
    if (!lines.length) return;
    try {
      const { answers, bad } = await ask('ask', { id: file.id, lines, encoding: encoding.value });
      table.hidden = !!bad;
      if (bad) { said.textContent = t('ask.bad', { i: bad, encoding: encoding.value }); return; }
      const maybe = answers.reduce((a, b) => a + b, 0);
      said.textContent = t('ask.said', { maybe: count(maybe), no: count(lines.length - maybe) });
      table.replaceChildren(el('table', {}, el('thead', {}, el('tr', {}, el('th', { scope: 'col', text: t('key') }), el('th', { scope: 'col', text: t('answer') }))),
        el('tbody', {}, ...lines.slice(0, SHOWN).map((line, i) => el('tr', {}, el('td', { text: line }), el('td', { class: answers[i] ? 'maybe' : 'no', text: t(answers[i] ? 'maybe' : 'no') }))))));
      if (lines.length > SHOWN) table.append(el('p', { text: t('ask.more', { n: count(lines.length - SHOWN) }) }));
    } catch (e) {
      said.textContent = e.message;
    }
  };
  return el('div', {}, el('label', { for: area.id, text: t('ask.keys') }), area,
    el('div', { class: 'row' }, el('label', { for: encoding.id, text: t('ask.encoding') }), encoding, el('button', { type: 'button', class: 'strong', 'data-do': 'ask', text: t('ask.go'), onclick: go })), said, table);
}

function saveForm(file) {
  if (!file.formats.length) return el('p', { text: t('save.none') });
  const to = el('select', { id: `to-${file.id}` }, ...file.formats.map((f) => el('option', { value: f, text: f })));
  const said = el('p', { role: 'status' });
  const go = async () => {
    try {
      const { bytes } = await ask('save', { id: file.id, format: to.value });
      const link = el('a', { href: URL.createObjectURL(new Blob([bytes])), download: `${file.name.replace(/\.\w+$/, '')}.${to.value === 'native' ? 'blm' : to.value}` });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
      said.textContent = `${link.download}: ${size(bytes.length)}`;
    } catch (e) {
      said.textContent = e.message;
    }
  };
  return el('div', {}, el('div', { class: 'row' }, el('label', { for: to.id, text: t('save.as') }), to, el('button', { type: 'button', class: 'plain', 'data-do': 'save', text: t('save.go'), onclick: go })), said);
}

function card(file) {
  const { info } = file;
  const close = el('button', { type: 'button', class: 'plain', text: t('open.close'), 'aria-label': `${t('open.close')}: ${file.name}`, onclick: async () => { opened = opened.filter((f) => f !== file); await ask('close', { id: file.id }); await show(); } });
  const regions = info.regions ?? [];
  const notes = [info.overfilled ? t('i.over') : '', info.notice, info.faults].filter(Boolean);
  return el('article', { class: 'card', 'data-name': file.name },
    el('div', { class: 'head' }, el('div', {}, el('h2', { tabindex: -1, text: file.name }), el('p', { text: t('open.what', { kind: info.kind, scheme: info.scheme, format: info.format }) })), close),
    figures(info),
    ...(notes.length ? [el('ul', { class: 'warnings' }, ...notes.map((text) => el('li', { text })))] : []),
    ...(regions.length ? [picture(info), el('p', { class: 'hint', text: t('open.map', { low: percent(Math.min(...regions)), high: percent(Math.max(...regions)) }) })] : []),
    askForm(file), saveForm(file));
}

async function meeting() {
  $('meeting').hidden = opened.length < 2;
  if (opened.length < 2) return;
  const [a, b] = opened.slice(-2);
  try {
    const o = await ask('compare', { a: a.id, b: b.id, names: [a.name, b.name] });
    const whole = (v) => (v === null ? '∞' : count(Math.max(0, v)));
    const row = (name, e, show) => el('tr', {}, el('th', { scope: 'row', text: name }), ...[e.value, e.low, e.high].map((v) => el('td', { text: show(v) })));
    const share = (v) => (v === null ? '∞' : v.toFixed(4));
    $('overlap').replaceChildren(el('table', {}, el('thead', {}, el('tr', {}, el('td'), ...['keys', 'low', 'high'].map((c) => el('th', { scope: 'col', text: t(`meet.${c}`) })))),
      el('tbody', {}, row(`A: ${a.name}`, o.keys_a, whole), row(`B: ${b.name}`, o.keys_b, whole), row(t('meet.both'), o.both, whole), row(t('meet.either'), o.either, whole), row(t('meet.jaccard'), o.jaccard, share))));
  } catch (e) {
    $('overlap').replaceChildren(el('p', { class: 'error', text: `${a.name}, ${b.name}: ${e.message}` }));
  }
}

async function show() {
  $('opened').replaceChildren(...opened.map(card));
  await meeting();
}

// A filter to look at, for who has none at hand.
function sample() {
  const f = state.bloomery.create({ kind: 'blocked', items: 20000, rate: 0.01 });
  f.addMany(Array.from({ length: 15000 }, (_, i) => `user:${i}`));
  const file = new File([f.save()], 'sample.blm');
  f.free();
  return file;
}

export function start({ workerText, module }) {
  worker = new Worker(URL.createObjectURL(new Blob([workerText], { type: 'text/javascript' })));
  worker.onmessage = answered;
  ask('start', { module });
  const all = state.bloomery.schemes();
  const fill = () => {
    const chosen = $('as').value;
    $('as').replaceChildren(el('option', { value: '', text: t('open.auto') }), ...all.formats.filter((f) => f.reads).map((f) => el('option', { value: f.name, text: f.name })));
    $('as').value = chosen;
  };
  fill();
  $('raw-scheme').replaceChildren(...all.schemes.filter((s) => s.creates && !s.means).map((s) => el('option', { value: s.name, text: s.name })));
  $('as').addEventListener('change', () => { $('raw').hidden = $('as').value !== 'raw'; });
  $('file').addEventListener('change', async () => { await openFiles([...$('file').files]); $('file').value = ''; });
  $('sample').addEventListener('click', () => openFiles([sample()]));
  const drop = $('drop');
  for (const name of ['dragover', 'dragenter']) document.addEventListener(name, (e) => { e.preventDefault(); drop.classList.add('over'); });
  for (const name of ['dragleave', 'drop']) document.addEventListener(name, () => drop.classList.remove('over'));
  document.addEventListener('drop', (e) => { e.preventDefault(); if (e.dataTransfer.files.length) { location.hash = 'open'; openFiles([...e.dataTransfer.files]); } });
  onChange(() => { fill(); show(); });
}
