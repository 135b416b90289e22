// SPDX-License-Identifier: MIT
// A curve or two with the chosen points, by uPlot.
import uPlot from 'uplot';
import { el, t } from './page.js';

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function dot(u, point, paint) {
  if (!point || !(point[0] > 0) || !(point[1] > 0)) return;
  const x = u.valToPos(point[0], 'x', true), y = u.valToPos(point[1], 'y', true);
  const r = 5 * devicePixelRatio;
  u.ctx.save();
  u.ctx.setLineDash([]);
  u.ctx.beginPath();
  u.ctx.arc(x, y, r, 0, 2 * Math.PI);
  u.ctx.fillStyle = paint;
  u.ctx.fill();
  u.ctx.strokeStyle = colour('--card');
  u.ctx.lineWidth = 2 * devicePixelRatio;
  u.ctx.stroke();
  u.ctx.restore();
}

// series: one or two of {x, y, point, dots}; the x of all of them are merged. logX, logY: the base of a
// logarithmic axis.
export function draw(box, { series, logX, logY, xText, yText, title }) {
  const shown = series.filter((s) => s && s.x.length > 1);
  box.replaceChildren();
  if (!shown.length) return;
  const x = [...new Set(shown.flatMap((s) => s.x))].sort((a, b) => a - b);
  const data = [x, ...shown.map((s) => {
    const at = new Map(s.x.map((v, i) => [v, s.y[i] > 0 ? s.y[i] : null]));
    return x.map((v) => (at.has(v) ? at.get(v) : undefined));
  })];
  const paints = [colour('--accent'), colour('--hit')];
  const axis = { stroke: colour('--soft'), font: '12px system-ui' };
  const main = shown[0].point ?? [0, 0];
  box.setAttribute('role', 'img');
  box.setAttribute('aria-label', t('chart.label', { title, x: xText(main[0]), y: yText(main[1]) }));
  // On a logarithmic axis only whole powers get a line and a label.
  const few = (base) => (u, values) => values.map((v) => {
    const power = base && Math.log(v) / Math.log(base);
    return !base || Math.abs(power - Math.round(power)) < 1e-6 ? v : null;
  });
  const lined = (base) => ({ filter: few(base), grid: { stroke: colour('--line'), width: 1, filter: few(base) }, ticks: { stroke: colour('--line'), filter: few(base) } });
  // From one power to another, and not far below the point: few keys have a rate of 1e-50.
  const whole = (base, least = 0) => (u, min, max) => {
    const power = (v) => Math.log(v) / Math.log(base);
    const low = Math.floor(power(Math.max(min, least)) + 1e-9), high = Math.ceil(power(max) - 1e-9);
    return [base ** low, base ** Math.max(high, low + 1)];
  };
  const said = (text) => (u, values) => values.map((v) => (v === null ? '' : text(v)));
  new uPlot({
    width: Math.max(240, box.clientWidth), height: 230, padding: [10, 14, 0, 0],
    cursor: { show: false }, legend: { show: false },
    scales: { x: { time: false, ...(logX && { distr: 3, log: logX, range: whole(logX) }) }, y: logY ? { distr: 3, log: logY, range: whole(logY, main[1] / 1e5) } : {} },
    axes: [
      { ...axis, ...lined(logX), values: said(xText), space: 56 },
      { ...axis, ...lined(logY), values: said(yText), size: 70, space: 26 },
    ],
    series: [{}, ...shown.map((s, i) => ({ stroke: paints[i], width: 2, dash: i ? [6, 4] : undefined, spanGaps: true, points: { show: !!s.dots, size: 5, fill: paints[i] } }))],
    hooks: { draw: [(u) => shown.forEach((s, i) => dot(u, s.point, paints[i]))] },
  }, data, box);
}

export const note = (box, text) => box.replaceChildren(el('p', { class: 'hint', text }));
