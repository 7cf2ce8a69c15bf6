/**
 * node scripts/picture.mjs: plays a session with the offline model in a terminal of 96 columns, and draws the final
 * screen cell by cell as docs/session.svg. Nothing in the picture is written by hand.
 */
import {cpSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import {spawn} from '@lydell/node-pty';
import xterm from '@xterm/headless';
import {DARK, drawScreen, readTerminal} from './terminal-picture.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const [COLUMNS, ROWS] = [96, 40];
const PROMPT = 'Help me understand this project';

async function play(cwd, home) {
  const terminal = new xterm.Terminal({cols: COLUMNS, rows: ROWS, allowProposedApi: true});
  const {PATH} = process.env;
  const pty = spawn(process.execPath, [path.join(root, 'dist', 'cli.js')], {
    ...{name: 'xterm-256color', cols: COLUMNS, rows: ROWS, cwd},
    env: {PATH, HOME: home, TERM: 'xterm-256color', LANG: 'C.UTF-8'},
  });
  pty.onData((data) => terminal.write(data));
  terminal.onData((reply) => pty.write(reply));
  const screen = () =>
    Array.from(
      {length: ROWS},
      (_, row) => terminal.buffer.active.getLine(terminal.buffer.active.baseY + row)?.translateToString(true) ?? '',
    ).join('\n');
  const until = async (holds, what) => {
    for (const end = Date.now() + 60_000; !holds(screen()); await sleep(50)) {
      if (Date.now() > end) throw new Error(`${what} did not come:\n${screen()}`);
    }
  };
  await until((text) => /^default · /m.test(text), 'the prompt');
  pty.write(PROMPT);
  await until((text) => text.includes(PROMPT), 'what was typed');
  pty.write('\r');
  await until((text) => text.includes('Esc interrupts'), 'the turn');
  await until((text) => !text.includes('Esc interrupts'), 'the end of the turn');
  await sleep(300);
  pty.kill('SIGHUP');
  return terminal;
}

const work = mkdtempSync(path.join(tmpdir(), 'mini-cc-picture-'));
try {
  const project = path.join(work, 'sample');
  cpSync(path.join(root, 'examples', 'sample'), project, {recursive: true});
  const terminal = await play(project, work);
  writeFileSync(
    path.join(root, 'docs', 'session.svg'),
    drawScreen(readTerminal(terminal, DARK), 'A session of mini-cc in a terminal'),
  );
} finally {
  rmSync(work, {recursive: true, force: true});
}
