import {expect, onTestFinished, test} from 'vitest';
import {startTerminal, type TerminalOptions} from './terminal.ts';
import {until} from './wait.ts';

function run(script: string, options: TerminalOptions = {}) {
  const terminal = startTerminal('bash', ['--norc', '-c', script], options);
  onTestFinished(terminal.close);
  return terminal;
}

test('the screen is what the cursor movements leave of it', async () => {
  const terminal = run(
    `printf 'one\\ntwo\\nthree'; printf '\\033[2A\\r\\033[2KONE'; printf '\\033[1B\\rTWO ready'; sleep 9`,
  );
  await terminal.waitFor('TWO ready');
  expect(terminal.screen().slice(0, 3)).toEqual(['ONE', 'TWO ready', 'three']);
  expect(terminal.cursor).toEqual({x: 9, y: 1});
});

test('what has left the window is in the scrollback, wrapped lines joined', async () => {
  const terminal = run(`seq 1 50; printf 'x%.0s' {1..30}; echo; echo end; sleep 9`, {cols: 20, rows: 5});
  await terminal.waitFor(/^end$/m);
  expect(terminal.screen()).toEqual(['50', 'x'.repeat(20), 'x'.repeat(10), 'end', '']);
  expect(terminal.scrollback().slice(0, 2)).toEqual(['1', '2']);
  expect(terminal.scrollback()).toContain('x'.repeat(30));
});

test('keys reach the program, and its questions to the terminal are answered', async () => {
  const terminal = run(
    `stty raw -echo; printf ready; IFS= read -rsn3 key; printf '\\033[6n'; IFS= read -rsd R at; stty sane; printf '%q %q' "$key" "$at"`,
  );
  await terminal.waitFor('ready');
  terminal.press('up');
  await terminal.waitFor(/E\[A.*E\[1;6/);
  expect(await terminal.waitForExit()).toEqual({code: 0, signal: undefined});
});

test('title and size are known, and a program in it is not in CI', async () => {
  const terminal = run(
    `printf '\\033]0;a title\\007'; trap 'stty size' WINCH; echo "ci=\${CI-none}"; while :; do sleep 0.05; done`,
    {cols: 50, rows: 10},
  );
  await terminal.waitFor('ci=none');
  expect(terminal.title()).toBe('a title');
  terminal.resize(70, 12);
  await terminal.waitFor('12 70');
});

test('a wait looks at whole frames, where the program says when it draws one', async () => {
  const terminal = run(`stty -echo; printf '\\033[?2026hhalf'; read -rsn1; printf ' and half\\033[?2026l'; sleep 9`);
  const seen: string[] = [];
  const whole = terminal.waitFor((at) => {
    seen.push(at.text());
    return seen.includes('half and half');
  });
  await until(() => terminal.text() === 'half');
  terminal.type('x');
  await whole;
  expect(seen).not.toContain('half');
});

test('a wait that fails shows the screen', async () => {
  const terminal = run('echo something else; sleep 9');
  await terminal.waitFor('else');
  await expect(terminal.waitFor('never', 50)).rejects.toThrow(/never did not come within 50 ms(?:.|\n)*something else/);
});

test('a wait fails at once when the program has ended, with its exit code', async () => {
  const terminal = run('echo bye; exit 3');
  await expect(terminal.waitFor('never', 5_000)).rejects.toThrow(/ended with 3(?:.|\n)*bye/);
  expect(await terminal.exit).toEqual({code: 3, signal: undefined});
});

test('a program ended by a signal reports it as a shell does', async () => {
  const terminal = run('kill -TERM $$');
  expect(await terminal.waitForExit()).toEqual({code: 143, signal: 15});
});
