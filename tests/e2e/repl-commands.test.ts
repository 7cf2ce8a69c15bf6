/** The slash commands of a session, each typed into one terminal. */
import {existsSync, readdirSync} from 'node:fs';
import {mkdir, readFile} from 'node:fs/promises';
import path from 'node:path';
import {expect, it} from 'vitest';
import {say} from '../support/messages-server.ts';
import {takesKeys} from '../support/questions.ts';
import {countReplies} from '../support/request-facts.ts';
import {callTools} from '../support/scripted-replies.ts';
import type {Terminal} from '../support/terminal.ts';
import {until} from '../support/wait.ts';
import {home, project, serve} from './fixture.ts';
import {idle, repl, send} from './repl-fixture.ts';

const screenOf = (terminal: Terminal) => terminal.screen().join('\n');

it('say what they do and show, without one that is sent to a model', async () => {
  const server = await serve((body) =>
    countReplies(body) === 0
      ? callTools([{name: 'bash', input: {command: 'echo new > made.txt; sed -i s/greet/welcome/ src/main.ts'}}])
      : say('done'),
  );
  const [where, mine] = [await project(), await home()];
  const elsewhere = `${where.path}-elsewhere`;
  await mkdir(elsewhere);
  const args = ['--dangerously-skip-permissions'];
  const terminal = await repl({server, cwd: where.path, home: mine, args, cols: 100, rows: 24});

  // It fits a screen of 24 rows, with the prompt below it.
  await send(terminal, '/help');
  await terminal.waitFor('? all keys');
  await idle(terminal);
  expect(screenOf(terminal)).toMatch(/^ {2}\/help /m);
  for (const name of ['agents', 'subagents', 'stop', 'model', 'mode', 'permissions', 'sandbox', 'clear', 'compact']) {
    expect(screenOf(terminal)).toContain(`/${name} `);
  }
  for (const name of ['context', 'cost', 'resume', 'rewind', 'export', 'fanout', 'theme', 'add-dir', 'status']) {
    expect(screenOf(terminal)).toContain(`/${name} `);
  }
  for (const name of ['config', 'diff', 'doctor', 'exit']) expect(screenOf(terminal)).toContain(`/${name} `);
  await send(terminal, '/help theme');
  await terminal.waitFor('/theme: colours of the screen');
  // This one fits a screen of 80 columns and 30 rows, with its prompt.
  terminal.resize(80, 30);
  await send(terminal, '/agents help');
  await terminal.waitFor('"prompt": "You are a code review expert.');
  await idle(terminal);
  expect(screenOf(terminal)).toMatch(/^▌ \/agents help$/m);
  terminal.resize(100, 30);

  await send(terminal, '/diff');
  await terminal.waitFor('No file was changed in this session.');
  await send(terminal, 'change it');
  await terminal.waitFor('done');
  await idle(terminal);
  const live = path.join(mine.path, '.mini-cc', 'live');
  await until(
    () => existsSync(live) && readdirSync(live).some((name) => name.endsWith('.json')),
    'a published session',
  );
  await send(terminal, '/runs');
  await terminal.waitFor(/idle · .* · 1 tool/);
  await send(terminal, '/runs stop nobody');
  await terminal.waitFor('No run "nobody" is at work');
  await send(terminal, '/runs lst');
  await terminal.waitFor('There is list, stop ID, log ID');
  await send(terminal, '/diff');
  await terminal.waitFor('2 files changed in this session:');
  await terminal.waitFor(/made\.txt +\+1 -0/);
  await terminal.waitFor(/src\/main\.ts +\+\d -\d/);
  // The files count as they are now: what a person took back is no change any more, and a later edit is one.
  await where.git('checkout', 'src/main.ts');
  await where.write('made.txt', 'one\ntwo\nthree\n');
  await send(terminal, '/diff');
  await terminal.waitFor('1 file changed in this session:');
  await terminal.waitFor(/made\.txt +\+3 -0/);
  await send(terminal, '/diff nothing.ts');
  await terminal.waitFor('nothing.ts was not changed in this session. Changed: ');

  await send(terminal, `/add-dir ${elsewhere}`);
  await terminal.waitFor('Agents may read and write here too');
  await send(terminal, '/add-dir nowhere');
  await terminal.waitFor('no such folder: nowhere');
  await send(terminal, '/status');
  await terminal.waitFor(new RegExp(`folders +${where.path}, ?\\s*${elsewhere}`));
  await terminal.waitFor(/mode +bypassPermissions/);

  await send(terminal, '/theme');
  await takesKeys(terminal, 'Which theme?');
  terminal.type('orange');
  await terminal.waitFor(/> dark-colorblind/);
  terminal.press('down', 'enter');
  await terminal.waitFor('Theme: light-colorblind (');
  const file = path.join(mine.env.MINI_CC_HOME!, 'settings.json');
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({theme: 'light-colorblind'});
  await send(terminal, '/theme drak');
  await terminal.waitFor('There is no theme "drak" (did you mean dark?)');
  await send(terminal, '/theme auto');
  await terminal.waitFor('Theme: auto (');
  await send(terminal, '/config');
  await terminal.waitFor(/theme +auto +\S*settings\.json/);
  await send(terminal, '/config all');
  await terminal.waitFor(/maxOutputTokens +16384 +default/);

  await send(terminal, '/mode plan');
  await terminal.waitFor('Mode: plan, was bypassPermissions');
  await send(terminal, '/sandbox');
  await terminal.waitFor(/Sandbox: \w+/);
  await send(terminal, '/doctor');
  await terminal.waitFor(/ok +ripgrep/);
  // What is refused does not stay in the prompt, where the next command would be glued to it.
  await send(terminal, '/expotr html');
  await terminal.waitFor('Unknown command: /expotr. Did you mean /export?');
  await send(terminal, '/stats');
  await terminal.waitFor('There is no command /stats: /cost says what was used.');
  await send(terminal, '/clear');
  await terminal.waitFor('New conversation. The old one: --resume ');
  expect(server.requests).toHaveLength(2);
  await send(terminal, 'quit');
  expect((await terminal.waitForExit()).code).toBe(0);
});
