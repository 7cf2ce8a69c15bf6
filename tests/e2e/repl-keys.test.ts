/** Keys of the prompt that need the system or several steps, in a real terminal. */
import {chmodSync, mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {say, slow} from '../support/messages-server.ts';
import type {Terminal} from '../support/terminal.ts';
import {home, project, serve} from './fixture.ts';
import {idle, repl, send} from './repl-fixture.ts';

const ONE_PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Waits until a row of the window is exactly this. */
const shows = (terminal: Terminal, row: string) => terminal.waitFor((at) => at.screen().includes(row));

/** A folder with programs of these names. */
function programs(folder: string, scripts: Readonly<Record<string, string>>): string {
  const bin = path.join(folder, 'bin');
  mkdirSync(bin, {recursive: true});
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(path.join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(path.join(bin, name), 0o755);
  }
  return `${bin}:${process.env.PATH}`;
}

describe('Ctrl+V', () => {
  it('takes the image of the clipboard; where there is none it says so, and what is typed stays', async () => {
    const server = await serve([say('One pixel.')]);
    const at = {server, home: await home(), cwd: (await project()).path, cols: 100};
    const script = `[ -f ${at.home.path}/copied ] && echo ${ONE_PIXEL} | base64 -d || exit 1`;
    const terminal = await repl({...at, env: {PATH: programs(at.home.path, {'wl-paste': script})}});
    terminal.type('look at ');
    await shows(terminal, '> look at');
    terminal.press('ctrl-v');
    await terminal.waitFor('The clipboard has no image.');
    writeFileSync(path.join(at.home.path, 'copied'), '');
    terminal.press('ctrl-v');
    await shows(terminal, '> look at [Image 1]');
    terminal.type('please');
    await shows(terminal, '> look at [Image 1] please');
    terminal.press('enter');
    await terminal.waitFor('One pixel.');
    const [prompt] = server.requests[0]!.body.messages.slice(-1);
    expect(prompt!.content).toMatchObject([
      {type: 'image', source: {type: 'base64', media_type: 'image/png', data: ONE_PIXEL}},
      {type: 'text', text: 'look at [Image 1] please'},
    ]);
  });
});

describe('the prompt', () => {
  it('undoes and redoes, by words', async () => {
    const terminal = await repl({});
    terminal.type('one');
    await shows(terminal, '> one');
    terminal.type(' ');
    terminal.type('two');
    await shows(terminal, '> one two');
    terminal.press('ctrl-u');
    await terminal.waitFor(/^> Ask/m);
    terminal.press('ctrl-_');
    await shows(terminal, '> one two');
    terminal.press('ctrl-_');
    await shows(terminal, '> one');
    terminal.type('\x1b_');
    await shows(terminal, '> one two');
    terminal.type('\x1b_');
    await terminal.waitFor(/^> Ask/m);
    // What is typed now ends it.
    terminal.press('ctrl-_');
    await shows(terminal, '> one two');
    terminal.type('!');
    await shows(terminal, '> one two!');
    terminal.type('\x1b_');
    terminal.type('?');
    await shows(terminal, '> one two!?');
  });

  it('takes wide characters, combining marks and joined emoji as one each, also in 40 columns', async () => {
    const server = await serve([slow(say('Seen.'), 10)]);
    const terminal = await repl({server, cols: 40});
    const text = 'ab漢字e\u0301👩\u200d👩\u200d👧x';
    terminal.type(text);
    await terminal.waitFor((at) => at.screen().some((row) => row.startsWith('> ab漢字e\u0301') && row.endsWith('x')));
    terminal.press('left', 'backspace', 'left', 'backspace');
    await terminal.waitFor((at) => at.screen().some((row) => /^> ab漢e\u0301x$/.test(row)));
    terminal.press('home', 'delete', 'end');
    await terminal.waitFor((at) => at.screen().some((row) => /^> b漢e\u0301x$/.test(row)) && at.cursor.x === 7);
    terminal.press('enter');
    await terminal.waitFor('Seen.');
    await idle(terminal);
    expect(JSON.stringify(server.requests[0]!.body.messages)).toContain('b漢e\u0301x');
    await send(terminal, '漢字'.repeat(3));
  });
});
