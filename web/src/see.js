// SPDX-License-Identifier: MIT
// A small filter, drawn. Every state is made by replaying the steps so far on a new filter of the
// real library with the same seed, so going back is exact.
import { $, t, el, state, rate, percent, onChange } from './page.js';

const SEED = 19n;
const SHAPES = {
  classic: { kind: 'classic', bits: 64, probes: 3 },
  blocked: { kind: 'blocked', bits: 1024, probes: 4, lines: 1 },
  counting: { kind: 'counting', bits: 128, probes: 4, lines: 1 },
  scalable: { kind: 'scalable', items: 12, rate: 0.4 },
  window: { kind: 'window', items: 14, rate: 0.1 },
  cuckoo: { kind: 'cuckoo', items: 40, rate: 0.2 },
};
const TOUR = [
  { },
  { word: 'N1', wires: [2, 5] },
  { word: 'N1', add: [2, 5] },
  { word: 'N2', add: [3, 5] },
  { word: 'N1', ask: [2, 5] },
  { word: 'N4', ask: [5, 8] },
  { word: 'N3', ask: [2, 3] },
  { },
];
const FINDS = 2000000;

let kind = 'classic';
let steps = [];
let at = 0;
let tour = -1;

// ---- the filter after some steps ----

function replay(upTo) {
  const f = state.bloomery.create({ ...SHAPES[kind], seed: SEED });
  const now = { f, members: new Map(), asked: 0, wrong: 0, last: null, layers: f.info().layers.length };
  for (const step of steps.slice(0, upTo)) apply(now, step);
  return now;
}

// The cells of a word: where its probes go. In a scalable filter those in the layer that answers, or
// in the newest. A cuckoo filter keeps its fingerprint in one: the one that another filter without the
// word has not.
function placesOf(f, word) {
  if (kind === 'window') return [];
  if (kind === 'cuckoo') {
    if (!f.has(word)) return [];
    const without = f.copy();
    without.remove(word);
    const cells = f.cells(), less = without.cells();
    without.free();
    return Array.from(cells.keys()).filter((c) => cells[c] && !less[c]);
  }
  const all = f.positions(word), cells = f.cells();
  if (kind !== 'scalable') return all;
  let start = 0;
  const layers = f.info().layers.map((l) => {
    const from = start;
    start += l.bits;
    return all.filter((c) => c >= from && c < from + l.bits);
  });
  return layers.find((places) => places.every((c) => cells[c])) ?? layers.at(-1);
}

// Whose cells these are.
function settersOf(now, places) {
  return [...now.members.keys()].filter((w) => placesOf(now.f, w).some((c) => places.includes(c)));
}

const acts = {
  add(now, word) {
    const { f } = now;
    const before = f.cells(), fresh = f.add(word);
    const layers = f.info().layers.length, grew = layers > now.layers;
    now.layers = layers;
    const places = placesOf(f, word);
    now.members.set(word, (now.members.get(word) ?? 0) + 1);
    const news = new Set(places.filter((c) => !before[c])).size;
    let text = t(fresh ? 'said.added' : 'said.again', { w: word, k: places.length, fresh: news });
    if (kind === 'window' && fresh) text = t('said.newest', { w: word });
    if (grew) text += t('said.grew');
    const gone = kind === 'window' ? [...now.members.keys()].filter((w) => !f.has(w)) : [];
    if (gone.length) text += t('said.forgot', { who: gone.join(', ') });
    return { text, places: places.map((c) => [c, true]) };
  },
  ask(now, word) {
    const { f } = now, cells = f.cells();
    const member = now.members.has(word), places = placesOf(f, word);
    const drawn = places.map((c) => [c, !!cells[c]]);
    now.asked += member ? 0 : 1;
    if (!f.has(word)) {
      const clear = places.find((c) => !cells[c]);
      return { text: clear === undefined ? t('said.nowhere', { w: word }) : t('said.no', { w: word, pos: clear }), tone: 'no', places: drawn };
    }
    if (member) return { text: t('said.yes', { w: word }), tone: 'maybe', places: drawn };
    now.wrong++;
    const who = settersOf(now, places);
    return { text: t('said.wrong', { w: word, who: who.length ? who.map((w) => `“${w}”`).join(', ') : t('others') }), tone: 'wrong', places: drawn };
  },
  remove(now, word) {
    const places = placesOf(now.f, word).map((c) => [c, true]);
    const gone = now.f.remove(word), left = (now.members.get(word) ?? 0) - 1;
    if (gone && left > 0) now.members.set(word, left);
    else if (gone) now.members.delete(word);
    return { text: t(gone ? 'said.removed' : 'said.absent', { w: word }), places };
  },
};

function apply(now, { act, word }) {
  try {
    now.last = { word, act, tone: '', ...acts[act](now, word) };
  } catch (e) {
    now.last = { word, act, places: [], tone: 'wrong', text: e.status === 'BLM_E_FULL' ? t('said.full', { w: word }) : e.message };
  }
}

// ---- drawing ----

const svg = (name, set, text) => {
  const e = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [k, v] of Object.entries(set)) e.setAttribute(k, v);
  if (text !== undefined) e.textContent = text;
  return e;
};

function paint({ cells, positions, word, label, numbered }) {
  const many = cells.length;
  const across = many <= 10 ? many : many <= 64 ? 32 : many <= 256 ? 32 : 64;
  const side = many <= 10 ? 56 : many <= 256 ? 26 : 13;
  const top = 78, width = across * side, rows = Math.ceil(many / across);
  const place = (c) => [(c % across) * side, top + Math.floor(c / across) * side];
  const pic = svg('svg', { viewBox: `-2 0 ${width + 4} ${top + rows * side + (numbered ? 22 : 6)}`, width: width + 4, 'aria-hidden': 'true' });
  const hit = new Map(positions);
  for (let c = 0; c < many; c++) {
    const [x, y] = place(c);
    const mark = hit.has(c) ? (hit.get(c) ? ' hit' : ' miss') : '';
    pic.append(svg('rect', { x: x + 1, y: y + 1, width: side - 2, height: side - 2, rx: Math.min(4, side / 5), class: `cell${cells[c] ? ' on' : ''}${mark}` }));
    if (cells[c] > 1 && side >= 20) pic.append(svg('text', { x: x + side / 2, y: y + side / 2 + 4, class: 'in' }, cells[c]));
    if (numbered) {
      pic.append(svg('text', { x: x + side / 2, y: y + side / 2 + 6, class: 'in', style: `font-size:18px;fill:${cells[c] ? '#fff' : 'var(--soft)'}` }, cells[c] ? 1 : 0));
      pic.append(svg('text', { x: x + side / 2, y: top + side + 16, class: 'dim', 'text-anchor': 'middle' }, c));
    }
  }
  if (word) {
    const x0 = width / 2;
    pic.append(svg('text', { x: x0, y: 18, class: 'key', 'text-anchor': 'middle' }, word));
    for (const [c, set] of positions) {
      const [x, y] = place(c);
      pic.append(svg('path', { d: `M${x0} 24 C ${x0} 56, ${x + side / 2} 40, ${x + side / 2} ${y + side / 3}`, class: `wire${set ? '' : ' miss'}` }));
    }
  }
  $('stage').replaceChildren(pic);
  $('stage').setAttribute('aria-label', label);
}

// A window's ages, the newest first: how full each is, and how many adds it got.
function paintAges(info, word, added, label) {
  const { ages } = info.window, side = 84, top = 78, height = 120;
  const pic = svg('svg', { viewBox: `-2 0 ${ages.length * side + 4} ${top + height + 40}`, width: ages.length * side + 4, 'aria-hidden': 'true' });
  const most = Math.max(...ages.map((a) => a.fill), 0.01);
  ages.forEach((age, i) => {
    const h = height * age.fill / most, x = i * side;
    pic.append(svg('rect', { x: x + 4, y: top, width: side - 8, height, rx: 6, class: 'cell' }));
    if (age.adds) pic.append(svg('rect', { x: x + 4, y: top + height - h, width: side - 8, height: h, rx: 6, class: `cell on${i === 0 && added ? ' hit' : ''}` }));
    pic.append(svg('text', { x: x + side / 2, y: top + height + 17, 'text-anchor': 'middle' }, i === 0 ? t('age.now') : i === ages.length - 1 ? t('age.last') : ''));
    pic.append(svg('text', { x: x + side / 2, y: top + height + 34, class: 'dim', 'text-anchor': 'middle' }, age.adds));
  });
  if (word) {
    const x0 = ages.length * side / 2;
    pic.append(svg('text', { x: x0, y: 18, class: 'key', 'text-anchor': 'middle' }, word));
    if (added) pic.append(svg('path', { d: `M${x0} 24 C ${x0} 56, ${side / 2} 40, ${side / 2} ${top}`, class: 'wire' }));
  }
  $('stage').replaceChildren(pic);
  $('stage').setAttribute('aria-label', label);
}

function figure(name, value) {
  return el('div', {}, el('dt', { text: name }), el('dd', { text: value }));
}

function show() {
  if (tour >= 0) { showTour(); return; }
  const now = replay(at);
  const cells = now.f.cells(), info = now.f.info();
  const text = now.last?.text ?? t('said.start');
  $('see-say').textContent = text;
  $('see-say').className = `said ${now.last?.tone ?? ''}`;
  const set = cells.reduce((n, c) => n + (c ? 1 : 0), 0);
  const label = t('stage.label', { kind, set, all: cells.length, last: text });
  if (kind === 'window') paintAges(info, now.last?.word, now.last?.act === 'add', label);
  else paint({ cells, positions: now.last?.places ?? [], word: now.last?.word, label });
  $('see-figures').replaceChildren(
    figure(t('see.count'), [...now.members.values()].reduce((a, b) => a + b, 0)),
    figure(t('see.keys'), info.estimated.saturated ? '∞' : info.estimated.value.toFixed(1)),
    figure(t('see.fill'), percent(info.fill)), figure(t('see.rate'), rate(info.rate_now)),
    figure(t('see.measured'), `${now.wrong} / ${now.asked}`), figure(t('see.layers'), info.layers.length));
  $('members').replaceChildren(...[...now.members].map(([w, n]) => el('li', { class: now.f.has(w) ? '' : 'gone', text: n > 1 ? `${w} ×${n}` : w })));
  $('step-back').disabled = at === 0;
  $('step-next').disabled = at === steps.length;
  $('step-at').textContent = t('see.at', { i: at, n: steps.length });
  $('see-remove').hidden = !['counting', 'cuckoo'].includes(kind);
  now.f.free();
}

function act(name, word) {
  if (!word) { $('see-say').textContent = t('said.empty'); return; }
  steps = [...steps.slice(0, at), { act: name, word }];
  at++;
  show();
}

// Words by the ten thousand, until one is wrongly found. Rare ones take a second.
function find() {
  const now = replay(at);
  let found = null, tried = 0;
  while (!found && tried < FINDS) {
    const words = Array.from({ length: 20000 }, (_, i) => `word${tried + i}`);
    const hit = now.f.hasMany(words).findIndex((maybe, i) => maybe && !now.members.has(words[i]));
    found = words[hit];
    tried += words.length;
  }
  now.f.free();
  if (found) act('ask', found);
  else $('see-say').textContent = t('said.none', { n: tried });
}

// ---- the tour: ten bits and two hashes, by the library's own bits ----

function showTour() {
  const f = state.bloomery.create({ kind: 'classic', bits: 10, probes: 2, seed: SEED });
  let tone = '', positions = [], word = null;
  TOUR.slice(0, tour + 1).forEach((step, i) => {
    positions = [];
    word = step.word;
    if (step.add) f.addPositions(step.add);
    if (i !== tour) return;
    const cells = f.cells();
    const wires = step.add ?? step.ask ?? step.wires ?? [];
    positions = wires.map((c) => [c, step.wires ? true : !!cells[c]]);
    if (step.ask) tone = !f.hasPositions(step.ask) ? 'no' : step.word === 'N3' ? 'wrong' : 'maybe';
  });
  const cells = f.cells(), text = t('tour')[tour];
  $('tour-text').textContent = text;
  $('see-say').textContent = tone ? `${word}: ${t(tone === 'no' ? 'no' : 'maybe')}` : '';
  $('see-say').className = `said ${tone}`;
  paint({ cells, positions, word, numbered: true, label: text });
  $('tour-at').textContent = t('tour.at', { i: tour + 1, n: TOUR.length });
  $('tour-back').disabled = tour === 0;
  $('tour-next').disabled = tour === TOUR.length - 1;
  f.free();
}

function setTour(i) {
  tour = i;
  const on = i >= 0;
  $('tour-box').hidden = !on;
  for (const id of ['see-form', 'see-figures']) $(id).hidden = on;
  for (const id of ['step-back', 'members']) $(id).parentElement.hidden = on;
  show();
}

export function start() {
  $('see-kind').replaceChildren(...Object.keys(SHAPES).map((k) => el('option', { value: k, text: k })));
  $('see-kind').addEventListener('change', () => { kind = $('see-kind').value; steps = []; at = 0; setTour(-1); });
  const word = () => $('word').value.trim();
  const after = () => { $('word').value = ''; $('word').focus(); };
  $('see-form').addEventListener('submit', (e) => { e.preventDefault(); act('add', word()); after(); });
  $('see-ask').addEventListener('click', () => { act('ask', word()); $('word').select(); });
  $('see-remove').addEventListener('click', () => { act('remove', word()); after(); });
  $('see-find').addEventListener('click', find);
  $('see-new').addEventListener('click', () => { steps = []; at = 0; setTour(-1); });
  $('step-back').addEventListener('click', () => { at--; show(); });
  $('step-next').addEventListener('click', () => { at++; show(); });
  $('tour').addEventListener('click', () => { setTour(0); $('tour-next').focus(); });
  $('tour-next').addEventListener('click', () => setTour(Math.min(tour + 1, TOUR.length - 1)));
  $('tour-back').addEventListener('click', () => setTour(Math.max(tour - 1, 0)));
  $('tour-end').addEventListener('click', () => setTour(-1));
  onChange(() => { if (!$('see').hidden) show(); });
}
