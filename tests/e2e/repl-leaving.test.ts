/** However mini-cc ends, the terminal is as it was: no mode of its stays on. The next session knows what was typed. */
import {expect, it, onTestFinished} from 'vitest';
import {say, slow} from '../support/messages-server.ts';
import {answer} from '../support/questions.ts';
import type {Terminal} from '../support/terminal.ts';
import {serve} from './fixture.ts';
import {repl, send} from './repl-fixture.ts';
import {asked, startShell} from './repl-keys-fixture.ts';

/** The last value of each mode that was switched. */
function modes(terminal: Terminal): Record<string, string> {
  const last: Record<string, string> = {};
  for (const [, mode = '', value = ''] of terminal.raw().matchAll(/\x1b\[\?(\d+)([hl])/g)) last[mode] = value;
  return last;
}

const AS_BEFORE = {'25': 'h', '2004': 'l', '1004': 'l'};
/** Throws where nothing catches it, on SIGUSR2. */
const CRASHES = `data:text/javascript,${encodeURIComponent(
  "process.on('SIGUSR2', () => setImmediate(() => { throw new Error('it crashed'); }));",
)}`;

/** A session that is still opening asks to press the key again. */
async function openTranscript(terminal: Terminal): Promise<void> {
  const isOpen = () => terminal.text().includes('q back');
  while (!isOpen()) {
    await terminal.waitFor(() => !terminal.text().includes('press Ctrl+O again'));
    terminal.press('ctrl-o');
    await terminal.waitFor(/q back|press Ctrl\+O again/);
  }
}

it('gives the terminal back in every way that it ends: keys, signals, in an answer, in the transcript', async () => {
  const server = await serve(() => slow(say('word '.repeat(400)), 30));
  const ways: Record<string, (terminal: Terminal) => Promise<void> | void> = {
    'Ctrl+D': (terminal) => terminal.press('ctrl-d'),
    SIGTERM: ({pid}) => void process.kill(pid, 'SIGTERM'),
    'SIGHUP in an answer': async (terminal) => {
      await send(terminal, 'go');
      await terminal.waitFor('word word');
      process.kill(terminal.pid, 'SIGHUP');
    },
    'SIGHUP in the transcript': async (terminal) => {
      await openTranscript(terminal);
      process.kill(terminal.pid, 'SIGHUP');
    },
    'a crash': ({pid}) => void process.kill(pid, 'SIGUSR2'),
    'a crash in the transcript': async (terminal) => {
      await openTranscript(terminal);
      process.kill(terminal.pid, 'SIGUSR2');
    },
  };
  for (const [way, leave] of Object.entries(ways)) {
    const terminal = await repl({server, env: {NODE_OPTIONS: `--import "${CRASHES}"`}});
    await leave(terminal);
    await terminal.waitForExit();
    expect(modes(terminal), way).toMatchObject(AS_BEFORE);
    expect(modes(terminal)['1049'] ?? 'l', way).toBe('l');
    // What was pushed onto the stack of the keyboard's modes is taken off.
    const [pushed, popped] = [/\x1b\[>\d+u/g, /\x1b\[<u/g].map((code) => (terminal.raw().match(code) ?? []).length);
    expect(pushed, way).toBe(popped);
    if (way.startsWith('a crash')) expect(terminal.screen().join('\n'), way).toContain('it crashed');
  }
});

const LONG = Array.from({length: 301}, (_, index) => `line ${index}`).join('\n');

it('is left by exit, quit, Ctrl+D and twice Ctrl+C; later sessions find what was typed, and know the note', async () => {
  const shell = await startShell();
  onTestFinished(shell.close);
  const {terminal, screen, holds, shows, idle, enter, command} = shell;
  const leave = async (leaving: () => void | Promise<void>) => {
    await leaving();
    await terminal.waitFor(() => screen().trimEnd().endsWith('\n$'));
    terminal.type('echo left with $?\r');
    await terminal.waitFor(() => screen().trimEnd().endsWith('\nleft with 0\n$'));
  };
  await shell.start();
  terminal.paste(LONG);
  await holds('[Pasted 301 lines]');
  await enter();
  await idle();
  await command('#leaving is allowed', '1 CLAUDE.md (this project)');
  await answer(terminal, '1 CLAUDE.md (this project)', '1');
  await idle();
  await leave(() => terminal.type('exit\r'));
  expect(terminal.text()).toContain('Resume this session: mini-cc --resume ');

  await shell.start();
  terminal.press('ctrl-r');
  terminal.type('line 0');
  await holds('[Pasted 301 lines]');
  const request = await enter();
  expect(asked(request)).toContain(JSON.stringify(LONG).slice(1, -1));
  expect(JSON.stringify(request.system)).toContain('- leaving is allowed');
  await idle();
  await leave(() => terminal.type('quit\r'));
  await shell.start();
  await leave(() => terminal.press('ctrl-d'));
  await shell.start();
  await leave(async () => {
    terminal.press('ctrl-c');
    await shows('again to leave');
    terminal.press('ctrl-c');
  });
});
