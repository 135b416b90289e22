// SPDX-License-Identifier: MIT
// The line that makes the chosen filter, in each language and system. Pure: text from numbers.
const grouped = (n, mark) => String(n).replace(/\B(?=(\d{3})+$)/g, mark);

// asked: {items, rate, bits, memory, probes}, those that were given; plan: what follows.
export function makeLines(asked, plan, kind) {
  const n = asked.items ?? plan.items, p = asked.rate ?? Number(plan.rate.toPrecision(6));
  const sized = asked.memory || asked.bits;
  const cli = ['bloomery create seen.blm'];
  if (asked.items) cli.push(`-n ${asked.items}`);
  if (asked.rate) cli.push(`-p ${asked.rate}`);
  if (asked.memory) cli.push(`--memory ${asked.memory}`);
  if (asked.bits) cli.push(`-m ${asked.bits}`);
  if (asked.probes) cli.push(`-k ${asked.probes}`);
  cli.push(`--kind ${kind}`);
  const c = ['blm_options o = BLM_OPTIONS_INIT;', `o.kind = BLM_${kind.toUpperCase()};`];
  if (asked.items) c.push(`o.items = ${asked.items};`);
  if (asked.rate) c.push(`o.rate = ${asked.rate};`);
  if (asked.memory) c.push(`o.memory = ${asked.memory};`);
  if (asked.bits) c.push(`o.bits = ${asked.bits};`);
  if (asked.probes) c.push(`o.probes = ${asked.probes};`);
  c.push('blm_filter *f;', 'blm_create(&o, &f, NULL);');
  const cuckoo = kind === 'cuckoo' || kind === 'counting';
  return [
    ['Shell', cli.join(' ')],
    ['C', c.join('\n')],
    ['Python', `seen = bloomery.Filter(capacity=${grouped(n, '_')}, rate=${p}, kind="${kind}")`],
    ['Java (Guava)', `BloomFilter<byte[]> seen = BloomFilter.create(Funnels.byteArrayFunnel(), ${grouped(n, '_')}${n > 2147483647 ? 'L' : ''}, ${p});`],
    ['Go', sized && !asked.rate ? `seen := bloom.New(${plan.bits}, ${plan.probes})` : `seen := bloom.NewWithEstimates(${n}, ${p})`],
    ['Redis', cuckoo ? `CF.RESERVE seen ${n}` : `BF.RESERVE seen ${p} ${n}${kind === 'scalable' ? '' : ' NONSCALING'}`],
  ];
}
