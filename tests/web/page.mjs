// SPDX-License-Identifier: MIT
// The page in Chromium: three parts, two languages, two themes, from a disk and from `bloomery web`.
// BLM_DIST: the page; BLM_NPM: where playwright-core and axe-core are; BLM_BUILD: the program.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { makeLines } from '../../web/src/lines.mjs';

const need = createRequire(join(process.env.BLM_NPM, 'x.js'));
const { chromium } = need('playwright-core');
const axe = readFileSync(need.resolve('axe-core/axe.min.js'), 'utf8');
const dist = process.env.BLM_DIST, program = join(process.env.BLM_BUILD, 'bloomery');
const golden = join(process.env.BLM_SOURCE, 'tests/golden');
const shots = join(dist, '..', 'screenshots');
const fileUrl = pathToFileURL(join(dist, 'index.html')).href;
const scratch = mkdtempSync(join(tmpdir(), 'bloomery-web-'));
const KINDS = ['classic', 'blocked', 'counting', 'scalable', 'window', 'cuckoo'];

let browser, server, webUrl;
const json = (...args) => JSON.parse(execFileSync(program, args, { encoding: 'utf8' }));

before(async () => {
  mkdirSync(shots, { recursive: true });
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
  server = spawn(program, ['web', '--dir', dist], { stdio: ['ignore', 'pipe', 'inherit'] });
  webUrl = await new Promise((done, fail) => {
    server.stdout.once('data', (d) => done(String(d).trim()));
    server.once('exit', (code) => fail(new Error(`bloomery web ended with ${code}`)));
  });
});
after(async () => {
  await browser?.close();
  server?.removeAllListeners('exit');
  server?.kill('SIGTERM');
  rmSync(scratch, { recursive: true, force: true });
});

// A page whose errors fail the test, and which may ask nobody but its own server.
async function open(url, { language = 'en', theme = 'light', width = 1200, height = 900 } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, locale: language === 'zh' ? 'zh-CN' : 'en-US', reducedMotion: 'reduce', acceptDownloads: true });
  const page = await context.newPage();
  page.setDefaultTimeout(60000);
  page.wrong = [];
  page.on('pageerror', (e) => page.wrong.push(String(e.stack ?? e)));
  page.on('console', (m) => { if (m.type() === 'error') page.wrong.push(m.text()); });
  page.on('request', (r) => { if (!/^(file|blob|data):|^blob:|^http:\/\/127\.0\.0\.1:/.test(r.url())) page.wrong.push(`asked ${r.url()}`); });
  await page.goto(url);
  await page.waitForSelector('html[data-ready]');
  return page;
}
async function end(page) {
  assert.deepEqual(page.wrong, []);
  await page.context().close();
}

test('the first view is under 300 KB in all', () => {
  const files = readdirSync(dist);
  const all = files.reduce((n, f) => n + statSync(join(dist, f)).size, 0);
  assert.deepEqual(files, ['index.html']);
  console.log(`${all} bytes`);
  assert.ok(all < 300000, `${all} bytes`);
});

test('numbers are those of bloomery calc --json, while typing', async () => {
  const page = await open(fileUrl);
  const cases = [
    [{ n: '1e6', p: '0.01' }, ['-n', '1e6', '-p', '0.01']],
    [{ n: '10M', p: '1 in 1000' }, ['-n', '10e6', '-p', '0.001']],
    [{ n: '50e6', memory: '64 MiB' }, ['-n', '50e6', '--memory', '64M']],
    [{ memory: '1G', p: '1e-4' }, ['--memory', '1G', '-p', '1e-4']],
    [{ m: '1e9', k: '7', p: '0.1%' }, ['-m', '1e9', '-k', '7', '-p', '0.001']],
    [{ n: '123_456', p: '3%' }, ['-n', '123456', '-p', '0.03']],
  ];
  for (const [fields, args] of cases) {
    for (const [f, v] of Object.entries(fields)) await page.fill(`#${f}`, v);
    for (const f of ['n', 'p', 'memory', 'm', 'k']) if (!fields[f] && await page.isVisible(`.release[data-for=${f}]`)) await page.click(`.release[data-for=${f}]`);
    const want = json('calc', '--json', ...args);
    for (const plan of want.plans) {
      const cells = await page.locator(`#plans tr[data-kind=${plan.kind}] td`).allTextContents();
      assert.equal(Number(cells[1].replace(/,/g, '')), plan.bits * plan.cell_bits, `${args}: bits of ${plan.kind}`);
      assert.equal(cells[2], plan.bits_per_item.toFixed(2));
      assert.equal(Number(cells[3]), plan.probes, `${args}: probes of ${plan.kind}`);
      assert.equal(Number(cells[4].replace(/,/g, '')), plan.items, `${args}: keys of ${plan.kind}`);
    }
  }
  await end(page);
});

test('the table is the program’s, word for word', async () => {
  const page = await open(`${fileUrl}#n=1e6&p=0.01`);
  const lines = execFileSync(program, ['calc', '-n', '1e6', '-p', '0.01'], { encoding: 'utf8' }).split('\n');
  for (const kind of KINDS) {
    const cells = await page.locator(`#plans tr[data-kind=${kind}] td`).allTextContents();
    const line = lines.find((l) => l.startsWith(kind));
    assert.ok(line.replace(/\s+/g, ' ').startsWith([kind, ...cells.slice(0, 6)].join(' ')), `${line} | ${cells}`);
  }
  await end(page);
});

test('a static filter that does not fit is too large, and has no probes to choose', async () => {
  const page = await open(`${fileUrl}#n=1e6&memory=100K&kind=static`);
  await page.waitForFunction(() => document.querySelectorAll('#warnings li').length > 0);
  const said = await page.locator('#warnings li').allTextContents();
  assert.ok(said.some((s) => /does not fit: it takes 137\.5 KiB/.test(s)), said.join(' | '));
  assert.ok(!said.some((s) => /Over-filled/.test(s)), said.join(' | '));
  assert.match(await page.textContent('#plans tr[data-kind=static]'), /too large/);
  assert.match(await page.textContent('#plans tr[data-kind=blocked]'), /rate too high, the default/);
  await page.waitForFunction(() => /no probes to choose/.test(document.body.textContent));
  await end(page);
});

test('the link carries the choice, and a second one beside it', async () => {
  const page = await open(`${fileUrl}#n=1e6&p=0.01&kind=classic`);
  assert.equal(await page.inputValue('#kind'), 'classic');
  await page.click('#keep');
  await page.fill('#p', '0.1%');
  assert.match(await page.textContent('#beside'), /1\.1 MiB/);
  const link = page.url();
  assert.match(link, /p=0\.1%25.*\|n=1e6&p=0\.01/);
  const again = await open(link);
  assert.equal(await again.textContent('#big'), await page.textContent('#big'));
  assert.equal(await again.isVisible('#beside'), true);
  await page.waitForFunction(() => document.querySelectorAll('#charts canvas').length === 3);
  await end(again);
  await end(page);
});

test('unwise choices and mistakes are named, and the lines say what they make', async () => {
  const page = await open(`${fileUrl}#n=1e6&p=0.01`);
  const drawn = () => page.waitForFunction(() => document.documentElement.dataset.drawn === document.getElementById('fields').dataset.asked);
  await drawn();
  assert.match(await page.textContent('#warnings'), /would be dropped.*Guava makes 9,58.*RedisBloom makes/s);
  await page.fill('#p', '1e-9');
  await page.selectOption('#kind', 'classic');
  await drawn();
  assert.match(await page.textContent('#warnings'), /30 probes are many/);
  await page.fill('#p', '70%');
  await drawn();
  assert.match(await page.textContent('#warnings'), /saves little/);
  await page.fill('#p', 'many');
  assert.match(await page.textContent('#p-hint'), /not a number/);
  assert.equal(await page.getAttribute('#p', 'aria-invalid'), 'true');
  await page.fill('#p', '0.01');
  // web.lines runs them; here they are the ones shown, with the bits and probes that each will have.
  const made = (...args) => {
    const file = join(scratch, 'made.blm');
    execFileSync(program, ['create', file, '-n', '1000000', '-p', '0.01', '--force', '--quiet', ...args]);
    const { bits, probes } = json('info', '--json', file);
    return `${bits.toLocaleString('en-US')} bits, ${probes} probes`;
  };
  for (const kind of ['classic', 'blocked', 'scalable', 'static', 'cuckoo']) {
    await page.selectOption('#kind', kind);
    await drawn();
    const plan = json('calc', '--json', '-n', '1e6', '-p', '0.01').plans.find((x) => x.kind === kind);
    const shown = await page.locator('#lines pre').allTextContents();
    assert.deepEqual(shown, makeLines({ items: 1000000, rate: 0.01 }, plan, kind).map(([, line]) => line));
    const beside = await page.locator('#lines .made').allTextContents();
    const mine = `${(plan.bits * plan.cell_bits).toLocaleString('en-US')} bits, ${plan.probes} probe${plan.probes === 1 ? '' : 's'}`;
    const redis = kind === 'cuckoo' ? '' : made('--scheme', 'redisbloom', ...(kind === 'scalable' ? [] : ['--variant', '13']));
    assert.deepEqual(beside, [mine, mine, mine, made('--scheme', 'guava'), made('--scheme', 'go'), redis]);
  }
  await end(page);
});

for (const kind of KINDS) {
  test(`see ${kind}: words are added, found, wrongly found and named, step by step`, async () => {
    const page = await open(`${fileUrl}#see`);
    await page.selectOption('#see-kind', kind);
    const says = () => page.textContent('#see-say');
    await page.fill('#word', 'iron');
    await page.press('#word', 'Enter');
    assert.match(await says(), /“iron” is added/);
    const on = await page.locator('.cell.on').count();
    assert.ok(on > 0);
    assert.ok(await page.locator('.wire').count() > 0);
    await page.fill('#word', 'iron');
    await page.click('#see-ask');
    assert.match(await says(), /maybe\. All its cells are set, and it was added/);
    await page.fill('#word', 'gold-mine-7');
    await page.click('#see-ask');
    assert.match(await says(), kind === 'window' || kind === 'cuckoo' ? /no\. Nothing of it is there/ : /no\. The cell \d+ is clear/);
    for (let i = 0; i < 24; i++) {
      await page.fill('#word', `ore ${i}`);
      await page.press('#word', 'Enter');
    }
    await page.click('#see-find');
    assert.match(await says(), /wrongly so! Nobody added it.*(“ore \d+”|other words)/);
    assert.match(await page.textContent('#step-at'), /step 28 of 28/);
    await page.screenshot({ path: join(shots, `see-${kind}.png`) });
    for (let i = 0; i < 27; i++) await page.click('#step-back');
    assert.equal(await page.locator('.cell.on').count(), on);
    assert.match(await says(), /“iron” is added/);
    await page.click('#step-next');
    assert.match(await page.textContent('#step-at'), /step 2 of 28/);
    const removes = kind === 'counting' || kind === 'cuckoo';
    assert.equal(await page.isVisible('#see-remove'), removes);
    if (removes) {
      await page.fill('#word', 'iron');
      await page.click('#see-remove');
      assert.match(await says(), /“iron” is removed/);
      assert.equal(await page.locator('.cell.on').count(), 0);
    }
    await end(page);
  });
}

for (const language of ['en', 'zh']) {
  test(`the guided tour, ${language}: ten bits, two hashes, a wrong maybe`, async () => {
    const page = await open(`${fileUrl}#see`, { language });
    await page.click('#tour');
    const set = () => page.locator('.cell').evaluateAll((all) => all.map((c, i) => (c.classList.contains('on') ? i : -1)).filter((i) => i >= 0));
    const want = [[], [], [2, 5], [2, 3, 5], [2, 3, 5], [2, 3, 5], [2, 3, 5], [2, 3, 5]];
    assert.equal(await page.locator('.cell').count(), 10);
    for (let i = 0; i < want.length; i++) {
      assert.deepEqual(await set(), want[i], `step ${i + 1}`);
      if (i === 5) assert.equal(await page.locator('#see-say.no').count(), 1);
      if (i === 6) {
        assert.equal(await page.locator('#see-say.wrong').count(), 1);
        assert.match(await page.textContent('#tour-text'), language === 'en' ? /false positive/ : /误判/);
        await page.screenshot({ path: join(shots, `tour-${language}.png`) });
      }
      if (i < want.length - 1) await page.click('#tour-next');
    }
    await page.click('#tour-end');
    await end(page);
  });
}

// ---- files ----

const files = function* () {
  for (const format of readdirSync(golden)) {
    const at = join(golden, format);
    if (!statSync(at).isDirectory() || format === 'classic-hashes') continue;
    for (const vector of readdirSync(at)) {
      if (vector.endsWith('.blm')) yield join(at, vector);
      if (!statSync(join(at, vector)).isDirectory() || vector === 'cases' || vector === 'tables') continue;
      for (const name of readdirSync(join(at, vector)))
        if (/\.(bin|gob|gz)$|^filter\.json$/.test(name) && !/^chunk[1-9]/.test(name)) yield join(at, vector, name);
    }
  }
};

test('every golden and malformed file is answered as the program answers', async () => {
  const page = await open(`${fileUrl}#open`);
  let good = 0, bad = 0;
  for (const file of files()) {
    const run = spawnSync(program, ['info', '--json', file], { encoding: 'utf8' });
    await page.setInputFiles('#file', file);
    await page.waitForFunction(() => document.getElementById('file').value === '');
    if (run.status === 0) {
      const want = JSON.parse(run.stdout);
      assert.equal(await page.isHidden('#open-error'), true, `${file}: ${await page.textContent('#open-error')}`);
      const got = await page.evaluate(() => {
        const card = document.querySelector('#opened article:last-child');
        const out = Object.fromEntries([...card.querySelectorAll('[data-figure]')].map((e) => [e.dataset.figure, e.querySelector('dd').textContent]));
        out.what = card.querySelector('.head p').textContent;
        card.querySelector('.head button').click();
        return out;
      });
      assert.equal(got.what, `${want.kind}, scheme ${want.scheme}, format ${want.format}`, file);
      assert.equal(got.cells.split(' ')[0].replace(/,/g, ''), String(want.bits), file);
      assert.equal(got.probes, String(want.probes), file);
      assert.equal(got.fill, `${Number((100 * want.fill).toPrecision(4))}%`, file);
      good++;
    } else {
      assert.equal(await page.isVisible('#open-error'), true, file);
      const said = (await page.textContent('#open-error')).replace(/^[^:]*: /, '');
      // The program adds what to do with an empty file.
      if (statSync(file).size === 0) {
        assert.equal(said, 'the input is empty');
        bad++;
        continue;
      }
      const words = run.stderr.split('\n')[0].replace(/^bloomery info: /, '').replace(`${file}: `, '');
      // The program may add what to do about it, which is another thing in a shell.
      assert.equal(words.split('; ')[0].startsWith(said.split('; ')[0]), true, `${file}: ${said} | ${words}`);
      bad++;
    }
  }
  console.log(`${good} opened, ${bad} refused`);
  assert.ok(good > 100 && bad > 100);
  await end(page);
});

test('keys are asked, two files compared, and converted ones open again', async () => {
  const page = await open(`${fileUrl}#open`);
  const at = join(golden, 'guava/m64-int64');
  await page.setInputFiles('#file', join(at, 'filter.bin'));
  const rows = readFileSync(join(at, 'probes.tsv'), 'utf8').split('\n').slice(1, -1).map((r) => r.split('\t'));
  const card = page.locator('#opened article').last();
  await card.locator('textarea').fill(`${rows.map((r) => r[0]).join('\n')}\n`);
  await card.locator('select').first().selectOption('int64');
  await card.locator('[data-do=ask]').click();
  const maybe = rows.filter((r) => r[1] === '1').length;
  await page.waitForFunction((text) => document.querySelector('#opened .said').textContent === text, `${maybe} maybe, ${rows.length - maybe} no.`);
  await card.locator('textarea').fill('12\nx');
  await card.locator('[data-do=ask]').click();
  await page.waitForFunction(() => /Line 2 is not int64/.test(document.querySelector('#opened .said').textContent));
  await card.locator('select').last().selectOption('native');
  const [download] = await Promise.all([page.waitForEvent('download'), card.locator('[data-do=save]').click()]);
  const saved = join(scratch, 'saved.blm');
  await download.saveAs(saved);
  const info = json('info', '--json', saved);
  assert.deepEqual([info.scheme, info.format], ['guava64', 'native']);
  const [a, b] = ['a.blm', 'b.blm'].map((n) => join(scratch, n));
  execFileSync(program, ['create', a, '-n', '1000', '-p', '0.01', '--quiet']);
  execFileSync(program, ['create', b, '--like', a, '--quiet']);
  execFileSync(program, ['add', a, '--quiet'], { input: 'a\nb\nc\n' });
  execFileSync(program, ['add', b, '--quiet'], { input: 'c\nd\n' });
  await page.setInputFiles('#file', [a, b]);
  await page.waitForFunction(() => document.querySelectorAll('#overlap tbody tr').length === 5);
  const want = json('compare', '--json', a, b);
  const cells = await page.locator('#overlap tbody tr').nth(4).locator('td').allTextContents();
  assert.equal(cells[0], want.jaccard.value.toFixed(4));
  await page.screenshot({ path: join(shots, 'open-two.png'), fullPage: true });
  await end(page);
});

// While the worker reads, the page goes on: its clock ticks while the bar is shown. A page that reads by itself
// never ticks then. On a busy machine a worker may be done before the page's turn comes, so there are some tries.
test('a file of 100 MB does not freeze the page', async () => {
  const page = await open(`${fileUrl}#open`);
  const file = join(scratch, 'large.blm');
  execFileSync(program, ['create', file, '-n', '80e6', '-p', '0.01', '--quiet']);
  assert.ok(statSync(file).size > 95e6);
  let most = 0;
  for (let tries = 0; tries < 10 && most < 5; tries++) {
    const beats = page.evaluate(() => new Promise((done) => {
      let n = 0;
      const beat = setInterval(() => {
        n += document.getElementById('reading').hidden ? 0 : 1;
        if (document.querySelector('#opened article')) { clearInterval(beat); done(n); }
      }, 5);
    }));
    await page.setInputFiles('#file', file);
    most = Math.max(most, await beats);
    assert.match(await page.locator('#opened .head p').textContent(), /blocked, scheme native/);
    await page.click('#opened .head button');
    await page.waitForFunction(() => !document.querySelector('#opened article'));
  }
  assert.ok(most >= 5, `${most} beats`);
  await end(page);
  rmSync(file);
});

// ---- how it looks, and to whom ----

for (const language of ['en', 'zh']) {
  for (const theme of ['light', 'dark']) {
    test(`${language}, ${theme}: axe finds nothing, on a desktop and on a phone`, async () => {
      for (const [device, width, height] of [['desktop', 1280, 900], ['phone', 390, 844]]) {
        const page = await open(webUrl, { language, theme, width, height });
        assert.equal(await page.getAttribute('html', 'data-theme'), theme);
        for (const part of ['size', 'see', 'open']) {
          await page.click(`#tab-${part}`);
          if (part === 'see') {
            for (const word of ['iron', 'steel', '铁']) {
              await page.fill('#word', word);
              await page.press('#word', 'Enter');
            }
          }
          if (part === 'open') {
            await page.click('#sample');
            await page.waitForSelector('#opened article');
          }
          if (part === 'size') await page.waitForFunction(() => document.querySelectorAll('#charts canvas').length === 3);
          await page.screenshot({ path: join(shots, `${part}-${language}-${theme}-${device}.png`), fullPage: true });
          assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, `${part} is wider than the ${device}`);
          await page.evaluate(axe);
          const found = await page.evaluate(() => globalThis.axe.run());
          assert.deepEqual(found.violations.map((v) => `${part} ${v.id}: ${v.nodes.map((n) => n.target).join(' ')}`), []);
        }
        await end(page);
      }
    });
  }
}

test('keyboard alone: tabs by arrows, a word added', async () => {
  const page = await open(fileUrl);
  await page.focus('#tab-size');
  await page.keyboard.press('ArrowRight');
  assert.equal(await page.isVisible('#see'), true);
  await page.focus('#word');
  await page.keyboard.type('bog');
  await page.keyboard.press('Enter');
  assert.match(await page.textContent('#see-say'), /“bog” is added/);
  await page.focus('#tab-see');
  await page.keyboard.press('ArrowLeft');
  assert.equal(await page.isVisible('#size'), true);
  await end(page);
});

test('language and theme can be changed, and stay', async () => {
  const page = await open(webUrl);
  await page.click('#language');
  assert.equal(await page.getAttribute('html', 'lang'), 'zh-CN');
  assert.match(await page.textContent('h1'), /过滤器要多大/);
  await page.click('#theme');
  await page.reload();
  await page.waitForSelector('html[data-ready]');
  assert.equal(await page.getAttribute('html', 'data-theme'), 'dark');
  assert.equal(await page.getAttribute('html', 'lang'), 'zh-CN');
  await end(page);
});
