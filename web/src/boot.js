// SPDX-License-Identifier: MIT
// The page's code and the module come packed in this file (gzip, base 85), so that one file works
// from a disk, where a browser may fetch nothing, and the first view stays small.
(async () => {
  const digits = PACK;
  const bytes = new Uint8Array(digits.length / 5 * 4);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < digits.length; i += 5) {
    let v = 0;
    for (let j = 0; j < 5; j++) {
      const c = digits.charCodeAt(i + j);
      v = v * 85 + (c === 122 ? 92 : c === 121 ? 60 : c) - 35;
    }
    view.setUint32(i / 5 * 4, v);
  }
  const packed = new Blob([bytes.subarray(0, LENGTH)]).stream().pipeThrough(new DecompressionStream('gzip'));
  const whole = new Uint8Array(await new Response(packed).arrayBuffer());
  const [page, worker] = PARTS;
  const text = (from, to) => new TextDecoder().decode(whole.subarray(from, to));
  const script = document.createElement('script');
  script.src = URL.createObjectURL(new Blob([text(0, page)], { type: 'text/javascript' }));
  script.onload = () => globalThis.bloomeryPage({ wasm: whole.subarray(page + worker), workerText: text(page, page + worker) });
  document.head.append(script);
})();
