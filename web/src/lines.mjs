// SPDX-License-Identifier: MIT
// The line that makes the chosen filter, in each language and system. Pure: text from numbers.
const grouped = (n, mark) => String(n).replace(/\B(?=(\d{3})+$)/g, mark);

// asked: {items, rate, bits, memory, probes}, those that were given; plan: what follows.
const OPTIONS = ['items', 'rate', 'memory', 'bits', 'probes'];
const FLAG = { items: '-n', rate: '-p', memory: '--memory', bits: '-m', probes: '-k' };

export function makeLines(asked, plan, kind) {
  const n = asked.items ?? plan.items, p = asked.rate ?? Number(plan.rate.toPrecision(6));
  const sized = asked.memory || asked.bits;
  const given = OPTIONS.filter((o) => asked[o]);
  // A static filter is made of all its keys at once; how many there are, it sees.
  const fixed = kind === 'static' || kind === 'cascade';
  const cli = fixed ? ['bloomery build seen.blm --include keys.txt', `-p ${p}`]
    : ['bloomery create seen.blm', ...given.map((o) => `${FLAG[o]} ${asked[o]}`)];
  cli.push(`--kind ${kind}`);
  const c = ['blm_options o = BLM_OPTIONS_INIT;', `o.kind = BLM_${kind.toUpperCase()};`,
    ...(fixed ? [`o.rate = ${p};`] : given.map((o) => `o.${o} = ${asked[o]};`))];
  if (fixed) c.push('blm_builder *b;', 'blm_builder_new(&o, &b, NULL);', 'blm_builder_add(b, keys, count);', 'blm_filter *f;', 'blm_builder_build(b, &f, NULL);');
  else c.push('blm_filter *f;', 'blm_create(&o, &f, NULL);');
  const python = given.map((o) => `${o === 'items' ? 'capacity' : o}=${o === 'rate' ? p : grouped(asked[o], '_')}`);
  const removes = kind === 'cuckoo' || kind === 'counting';
  return [
    ['Shell', cli.join(' ')],
    ['C', c.join('\n')],
    ['Python', fixed ? 'seen = bloomery.Filter.open("seen.blm")' : `seen = bloomery.Filter(${[...python, `kind="${kind}"`].join(', ')})`],
    ['Java (Guava)', `BloomFilter<byte[]> seen = BloomFilter.create(Funnels.byteArrayFunnel(), ${grouped(n, '_')}${n > 2147483647 ? 'L' : ''}, ${p});`],
    ['Go', sized && !asked.rate ? `seen := bloom.New(${plan.bits}, ${plan.probes})` : `seen := bloom.NewWithEstimates(${n}, ${p})`],
    ['Redis', removes ? `CF.RESERVE seen ${n}` : `BF.RESERVE seen ${p} ${n}${kind === 'scalable' ? '' : ' NONSCALING'}`],
  ];
}
