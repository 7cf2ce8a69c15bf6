/**
 * The exported page in a real browser: `npm run test:outside`, with Chromium on the search path (Debian: chromium). Pictures
 * of it, narrow and wide, light and dark, go to the folder that MINI_CC_PICTURES names.
 */
import {mkdir, writeFile} from 'node:fs/promises';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import path from 'node:path';
import {pathToFileURL} from 'node:url';
import {execa} from 'execa';
import {expect, onTestFinished, test} from 'vitest';
import {EXPORT_ARGS, exportedSession} from '../e2e/export-fixture.ts';
import {hostileTest} from '../evals/reports-fixture.ts';
import {runCli} from '../support/run-cli.ts';

/** @param flags of Chromium. @returns what it wrote to standard output */
async function browse(file: string, flags: readonly string[]): Promise<string> {
  const fixed = ['--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--virtual-time-budget=2000'];
  const {stdout} = await execa('chromium', [...fixed, ...flags, pathToFileURL(file).href], {timeout: 60_000});
  return stdout;
}

test('a hostile session changes nothing of the page, and the browser asks nobody for anything', async () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.end();
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const {port} = server.address() as AddressInfo;

  const at = await exportedSession();
  expect(await runCli(EXPORT_ARGS, at)).toMatchObject({code: 0});
  expect(await runCli(['sessions', 'export', '3333', 'out.html'], at)).toMatchObject({code: 0});
  const file = path.join(at.cwd, 'out.html');
  // All that the browser asks for goes to the server above, which stands in for the whole network.
  const proxy = `--proxy-server=http://127.0.0.1:${port}`;
  const seen = await browse(file, [proxy, '--proxy-bypass-list=<-loopback>', '--dump-dom']);
  expect(seen).not.toMatch(/<script|<img|<[a-z][^>]*(?:id="owned"|onerror=|onmouseover=)/);
  expect(seen).toMatch(/<title>explore it &lt;script&gt;/);
  expect(seen.match(/<section class="run"/g)).toHaveLength(3);
  expect(seen.match(/<h2>/g)).toHaveLength(2);
  expect(asked.filter((url) => /pixel|evil/.test(url))).toEqual([]);

  // The rule of the page alone: a script that gets into it does not run, and an image does not load.
  const broken = path.join(at.cwd, 'broken.html');
  const attack = `<script>document.title='owned'</script><img src="http://127.0.0.1:${port}/pixel.png">`;
  await writeFile(broken, (await at.where.read('out.html')).replace('<h2>Conversation', `${attack}<h2>Conversation`));
  expect(await browse(broken, ['--dump-dom'])).not.toContain('<title>owned');
  expect(asked.filter((url) => url.includes('pixel'))).toEqual([]);

  const folder = process.env.MINI_CC_PICTURES;
  if (folder === undefined) return;
  await mkdir(folder, {recursive: true});
  for (const [name, size] of [
    ['wide', '1280,1800'],
    ['narrow', '390,1800'],
  ] as const) {
    for (const scheme of ['light', 'dark'] as const) {
      const dark =
        scheme === 'dark' ? ['--blink-settings=preferredColorScheme=0'] : ['--blink-settings=preferredColorScheme=1'];
      await browse(file, [
        `--window-size=${size}`,
        ...dark,
        `--screenshot=${path.join(folder, `${name}-${scheme}.png`)}`,
      ]);
    }
  }
});

test('a page of test results with hostile answers shows its pictures, and asks nobody for anything', async () => {
  const {file, page} = await hostileTest();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.end();
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const {port} = server.address() as AddressInfo;
  const proxy = `--proxy-server=http://127.0.0.1:${port}`;
  const seen = await browse(file, [proxy, '--proxy-bypass-list=<-loopback>', '--dump-dom']);
  expect(seen).toContain('<title>Tests of fixer</title>');
  expect(seen.match(/<figure>/g)).toHaveLength(3);
  expect(seen).not.toMatch(/<script|<img/);
  expect(page).toContain('prefers-color-scheme:dark');
  expect(asked.filter((url) => /pixel/.test(url))).toEqual([]);
});
