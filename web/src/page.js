// SPDX-License-Identifier: MIT
// What the three parts share: words, elements, storage that may be refused.
import { words } from './words.js';

export const $ = (id) => document.getElementById(id);

const kept = (name) => { try { return localStorage.getItem(name); } catch { return null; } };
const keep = (name, value) => { try { localStorage.setItem(name, value); } catch { /* private, or a file */ } };

export const state = {
  language: kept('language') ?? (navigator.language.startsWith('zh') ? 'zh' : 'en'),
  theme: kept('theme') ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'),
  bloomery: null,
};

export function t(key, values = {}) {
  const text = words[state.language][key] ?? words.en[key] ?? key;
  return typeof text !== 'string' ? text : text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? '');
}

const listeners = [];
export const onChange = (f) => listeners.push(f);

export function applyWords() {
  document.documentElement.lang = state.language === 'zh' ? 'zh-CN' : 'en';
  document.documentElement.dataset.theme = state.theme;
  for (const e of document.querySelectorAll('[data-t]')) e.textContent = t(e.dataset.t, { version: state.bloomery.version });
  for (const e of document.querySelectorAll('[data-label]')) e.setAttribute('aria-label', t(e.dataset.label));
  $('language').textContent = t('language');
  $('language').lang = state.language === 'zh' ? 'en' : 'zh-CN';
  $('theme').textContent = t(state.theme === 'dark' ? 'theme.light' : 'theme.dark');
  listeners.forEach((f) => f());
}

export function change(name, value) {
  state[name] = value;
  keep(name, value);
  applyWords();
}

// el('p', {class: 'x', text: '…'}, child…)
export function el(name, set = {}, ...children) {
  const e = document.createElement(name);
  for (const [k, v] of Object.entries(set)) {
    if (k === 'text') e.textContent = v;
    else if (k.startsWith('on')) e.addEventListener(k.slice(2), v);
    else if (v !== false && v !== undefined && v !== null) e.setAttribute(k, v === true ? '' : v);
  }
  e.append(...children);
  return e;
}

export const count = (v) => state.bloomery.writeNumber('count', Math.round(v));
export const size = (v) => state.bloomery.writeNumber('size', v);
export const rate = (v) => state.bloomery.writeNumber('rate', v);
export const percent = (v) => `${Number((100 * v).toPrecision(4))}%`;

// A text area copies where the clipboard is refused, as it is for files.
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = el('textarea', { class: 'unseen', 'aria-hidden': 'true' });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
}

export function copyButton(text, label) {
  const b = el('button', { type: 'button', class: 'plain', text: t('copy'), 'aria-label': `${t('copy')}: ${label}` });
  b.addEventListener('click', async () => {
    await copyText(text);
    b.textContent = t('copied');
    setTimeout(() => { b.textContent = t('copy'); }, 1500);
  });
  return b;
}
