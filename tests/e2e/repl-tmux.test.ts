/** In tmux, which draws and wraps in its own way: what is printed stays once in its history, at every size. */
import {execFile, execFileSync} from 'node:child_process';
import {promisify} from 'node:util';
import {expect, onTestFinished, test} from 'vitest';
import {say, slow} from '../support/messages-server.ts';
import {serve} from './fixture.ts';
import {idle, repl, send} from './repl-fixture.ts';

const run = promisify(execFile);

const LINES = Array.from({length: 120}, (_, n) => `row${String(n).padStart(3, '0')}`);
const ANSWER = LINES.map((line, n) =>
  n % 3 === 2
    ? `\`\`\`ts\nlet ${line} = call(1);\n\`\`\``
    : `- **${line}** says what it has read of the files in this folder`,
).join('\n\n');

function hasTmux(): boolean {
  try {
    execFileSync('tmux', ['-V']);
    return true;
  } catch {
    return false;
  }
}

// CI installs tmux, and there a missing one fails.
test.skipIf(!process.env.CI && !hasTmux())('an answer streams while its window changes its size', async () => {
  const socket = `mini-cc-test-${process.pid}`;
  const tmux = (...args: string[]) => run('tmux', ['-L', socket, ...args]).then(({stdout}) => stdout);
  onTestFinished(() =>
    tmux('kill-server').then(
      () => undefined,
      () => undefined,
    ),
  );
  const server = await serve(() => slow(say(ANSWER), 15));
  const options = ['set', '-g', 'status', 'off', ';', 'set', '-g', 'history-limit', '5000', ';'];
  const terminal = await repl({
    ...{server, cols: 100, rows: 30},
    wrap: (command, args) => ['tmux', ['-L', socket, '-f', '/dev/null', ...options, 'new-session', command, ...args]],
  });
  await send(terminal, 'go');
  await terminal.waitFor('row004');
  for (const [columns, rows] of [
    [80, 30],
    [100, 24],
    [60, 26],
    [40, 30],
    [100, 30],
  ] as const) {
    terminal.resize(columns, rows);
    terminal.type('x');
    await terminal.waitFor((at) => /> x+$/m.test(at.screen().join('\n')));
  }
  for (let key = 0; key < 5; key++) terminal.press('backspace');
  await terminal.waitFor((at) => at.screen().some((line) => line.includes(LINES.at(-1)!)));
  await idle(terminal);
  const history = await tmux('capture-pane', '-p', '-J', '-S', '-');
  const found = [...history.matchAll(/row\d{3}/g)].map(([name]) => name);
  expect(found).toEqual(LINES);
  expect(history).not.toMatch(/\*\*|```/);
});
