// SPDX-License-Identifier: MIT
// The page's code and the module come packed in this file (gzip, two characters for 13 bits), so that
// one file works from a disk, where a browser may fetch nothing, and the first view stays small.
(async () => {
  const digits = PACK;
  const bytes = new Uint8Array(LENGTH);
  const digit = (i) => {
    const c = digits.charCodeAt(i);
    return (c === 126 ? 92 : c === 33 ? 60 : c) - 35;
  };
  let have = 0, bits = 0;
  for (let i = 0, to = 0; to < LENGTH; i += 2) {
    have = have << 13 | digit(i) * 91 + digit(i + 1);
    for (bits += 13; bits >= 8 && to < LENGTH; bits -= 8) bytes[to++] = have >> bits - 8;
  }
  const packed = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  const whole = new Uint8Array(await new Response(packed).arrayBuffer());
  let at = 0;
  const [library, page, worker] = PARTS.map((length) => new TextDecoder().decode(whole.subarray(at, at += length)));
  const script = document.createElement('script');
  script.src = URL.createObjectURL(new Blob([library, page], { type: 'text/javascript' }));
  script.onload = () => globalThis.bloomeryPage({ wasm: whole.subarray(at), workerText: library + worker });
  document.head.append(script);
})();
