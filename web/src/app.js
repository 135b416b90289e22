// SPDX-License-Identifier: MIT
// Loads the module, then the three parts. #see and #open are parts, any other hash is the
// calculator's.
import { $, state, change, applyWords } from './page.js';
import * as calc from './calc.js';
import * as see from './see.js';
import * as open from './open.js';

const { load } = globalThis.bloomeryPackage; // pkg/index.js, which boot.js puts before this
const PARTS = ['size', 'see', 'open'];

function part(name) {
  for (const p of PARTS) {
    $(p).hidden = p !== name;
    $(`tab-${p}`).setAttribute('aria-selected', String(p === name));
    $(`tab-${p}`).tabIndex = p === name ? 0 : -1;
  }
  applyWords();
}

function go(name) {
  history.replaceState(null, '', name === 'size' ? calc.hashOf() : `#${name}`);
  part(name);
}

function byHash() {
  const name = location.hash.slice(1);
  if (PARTS.includes(name)) { part(name); return; }
  calc.takeHash(location.hash);
  part('size');
}

globalThis.bloomeryPage = async ({ wasm, workerText }) => {
  const module = await WebAssembly.compile(wasm);
  state.bloomery = await load(module);
  calc.start();
  see.start();
  open.start({ workerText, module });
  $('language').addEventListener('click', () => change('language', state.language === 'zh' ? 'en' : 'zh'));
  $('theme').addEventListener('click', () => change('theme', state.theme === 'dark' ? 'light' : 'dark'));
  PARTS.forEach((p, i) => {
    $(`tab-${p}`).addEventListener('click', () => go(p));
    $(`tab-${p}`).addEventListener('keydown', (e) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
      if (!step) return;
      const to = PARTS[(i + step + PARTS.length) % PARTS.length];
      go(to);
      $(`tab-${to}`).focus();
    });
  });
  addEventListener('hashchange', byHash);
  byHash();
  document.documentElement.dataset.ready = '';
};
