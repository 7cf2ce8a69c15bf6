/** The first moments of the REPL in a real terminal: what is shown, and what is typed before the program is loaded. */
import {readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {expect, it, onTestFinished} from 'vitest';
import {say} from '../support/messages-server.ts';
import {getFirstPrompt} from '../support/request-facts.ts';
import {buildOnce, root, startCli} from '../support/run-cli.ts';
import type {Terminal} from '../support/terminal.ts';
import {pause} from '../support/wait.ts';
import {home, project, serve} from './fixture.ts';

async function start(args: readonly string[] = []): Promise<Terminal> {
  const server = {url: 'http://127.0.0.1:9'};
  const terminal = await startCli(args, {cwd: (await project()).path, home: await home(), server});
  onTestFinished(terminal.close);
  return terminal;
}

const READY = /^default · /m;

it('takes every key from the first moment on, once and in order, while everything loads', async () => {
  const terminal = await start();
  const letters = Array.from({length: 60}, (_, at) => String.fromCharCode(97 + (at % 26)));
  // The first ones come before the program reads: the terminal itself keeps them.
  for (const letter of letters) {
    terminal.type(letter);
    await pause(8, 'a person types while the program starts, and nothing is shown of it yet');
  }
  await terminal.waitFor(READY);
  await terminal.waitFor(`> ${letters.join('')}`);
  expect(terminal.text().split(letters.join(''))).toHaveLength(2);
});

/** What a person types, and what the prompt shows then. */
const TYPED: readonly [keys: string, shown: string][] = [
  ['größe, señor', 'größe, señor'],
  ['привет', 'привет'],
  ['καλημέρα', 'καλημέρα'],
  ['שלום', 'שלום'],
  ['مرحبا', 'مرحبا'],
  ['नमस्ते', 'नमस्ते'],
  ['สวัสดี', 'สวัสดี'],
  ['你好', '你好'],
  ['こんにちは', 'こんにちは'],
  ['안녕하세요', '안녕하세요'],
  ['❤️ 👩‍💻 👍🏽', '❤️ 👩‍💻 👍🏽'],
  ['\x1b[200~a pasted line\x1b[201~', 'a pasted line'],
  ['helo\x1b[D\x1b[Dl\x1b[C\x1b[C!', 'hello!'],
];

it('shows what is typed in any alphabet before anything is loaded', async () => {
  await buildOnce();
  const folder = await project();
  // The entry of the build with a rest that never gets loaded, so that only the first paint can show a key.
  const entry = readFileSync(path.join(root, 'dist', 'cli.js'), 'utf8');
  const [, main] = /import\(`(\.\/chunks\/main-[^`]+)`\)/.exec(entry)!;
  await folder.write('only/package.json', '{"type": "module"}');
  await folder.write('only/cli.js', entry);
  const never = 'export const main = () => new Promise(() => setInterval(() => {}, 1000));';
  await folder.write(path.join('only', main!), never);
  await Promise.all(
    TYPED.map(async ([keys, shown]) => {
      const program = path.join(folder.path, 'only', 'cli.js');
      const wrap = (node: string): [string, string[]] => [node, [program]];
      const terminal = await startCli([], {cwd: folder.path, home: await home(), wrap});
      onTestFinished(terminal.close);
      await terminal.waitFor(/^> /m);
      terminal.type(keys);
      await terminal.waitFor(`> ${shown}`);
    }),
  );
});

it('sends a line of any alphabet that was typed before anything was loaded', async () => {
  const server = await serve(() => say('Answered.'));
  const cwd = (await project()).path;
  for (const [keys, shown] of TYPED) {
    const terminal = await startCli([], {cwd, home: await home(), server});
    // The terminal keeps the line until the program reads.
    terminal.type(`${keys}\r`);
    await terminal.waitFor('Answered.');
    expect(getFirstPrompt(server.requests.at(-1)!.body)).toBe(shown);
    await terminal.close();
  }
}, 240_000);

it('offers files for what was typed before the session was open', async () => {
  const terminal = await start();
  await terminal.waitFor(/^> /m);
  terminal.type('@greet');
  await terminal.waitFor('> src/greet.ts');
});

it('shows the prompt from its first output on, and never a screen without it or with two', async () => {
  const terminal = await start();
  const screens: {readonly screen: string; readonly since: number}[] = [];
  await terminal.waitFor((at) => {
    const screen = at.screen().join('\n').trimEnd();
    if (screen !== screens.at(-1)?.screen) screens.push({screen, since: performance.now()});
    return READY.test(at.text());
  });
  // One write may be read in two pieces: what is shorter than a frame of a display, nobody sees.
  const seen = screens.filter(({since}, index) => (screens[index + 1]?.since ?? Number.POSITIVE_INFINITY) - since > 16);
  const shown = seen.map(({screen}) => screen).filter((screen) => screen !== '');
  const prompts = shown.map((screen) => screen.split('\n').filter((row) => row.startsWith('> Ask')).length);
  expect(prompts).toEqual(shown.map(() => 1));
  // The status line comes later; no row moves.
  const above = shown.map((screen) => screen.split('\n').slice(0, 8).join('\n'));
  expect(new Set(above).size).toBe(1);
});

it('leaves at once by Ctrl+D, and gives the terminal back', async () => {
  const terminal = await start();
  await terminal.waitFor(/^> /m);
  terminal.press('ctrl-d');
  expect((await terminal.waitForExit()).code).toBe(0);
  expect(terminal.text()).not.toContain('> Ask');
  expect(terminal.raw().lastIndexOf('\u001b[?2004l')).toBeGreaterThan(terminal.raw().lastIndexOf('\u001b[?2004h'));
});

it('takes the frame off the screen for an error', async () => {
  const terminal = await start(['--resume', 'deadbeef-0000-4000-8000-000000000000']);
  expect((await terminal.waitForExit()).code).toBe(2);
  expect(terminal.text()).toContain('deadbeef');
  expect(terminal.text()).not.toContain('> Ask');
});

it('reads one small file before the prompt is shown', async () => {
  await buildOnce();
  const dist = path.join(root, 'dist');
  const entry = readFileSync(path.join(dist, 'cli.js'), 'utf8');
  expect(Buffer.byteLength(entry)).toBeLessThan(13_000);
  const imported = [...entry.matchAll(/\bfrom\s*[`'"]([^`'"]+)[`'"]|\bimport\s*[`'"]([^`'"]+)[`'"]/g)].map(
    ([, from, alone]) => from ?? alone!,
  );
  expect(imported.filter((name) => !name.startsWith('node:'))).toEqual([]);
  const later = [...entry.matchAll(/\bimport\(\s*[`'"]([^`'"]+)[`'"]/g)].map(([, name]) => name!);
  // The other one is for a Node.js that is too old.
  expect(later.filter((name) => !name.includes('newer-node'))).toHaveLength(1);
  expect(readdirSync(path.join(dist, 'chunks'))).toContain(path.basename(later[0]!));
});
