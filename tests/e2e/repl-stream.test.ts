/** Answers that stream in a real terminal: frames are looked at while they come. */
import {expect, onTestFinished, test} from 'vitest';
import {say, slow, startMessagesServer} from '../support/messages-server.ts';
import {idle, repl, send} from './repl-fixture.ts';

const CODE = Array.from({length: 60}, (_, index) => `let v${index} = ${index};`);
const ANSWER = [
  'The **cache** has *three* parts: `Store`, [Index](https://a.b/c) and ~~nothing~~ more.',
  '1. **Reads** go to `get`\n   - a *hit* returns\n2. **Writes** go to `set`',
  '| Part | Lines |\n|------|------:|\n| **Store** | 120 |\n| Index | 45 |',
  `\`\`\`ts\n${CODE.join('\n')}\n\`\`\``,
  'That is **all**.',
].join('\n\n');

const PRINTED = [
  '1. Reads go to get',
  '   - a hit returns',
  '2. Writes go to set',
  '',
  'Part  │ Lines',
  '──────┼──────',
  'Store │   120',
  'Index │    45',
  '',
  ...CODE.map((line) => `  ${line}`),
  '',
  'That is all.',
];

test.each([100, 40])('at %i columns no frame shows a raw mark, and what is printed does not change', async (cols) => {
  const server = await startMessagesServer(() => slow(say(ANSWER), 15));
  onTestFinished(server.close);
  const terminal = await repl({server, cols, rows: 24});
  await send(terminal, 'go');
  await terminal.waitFor('Esc interrupts');
  let frames = 0;
  const marked: string[] = [];
  await terminal.waitFor((at) => {
    frames += 1;
    // The line that says what is waited for has a moving mark of its own.
    const answer = at.screen().filter((line) => !line.includes('Esc interrupts'));
    marked.push(...answer.filter((line) => /[*`~[\]|]/.test(line)));
    return answer.length === at.screen().length;
  });
  await idle(terminal);
  expect(marked).toEqual([]);
  expect(frames).toBeGreaterThan(5);
  expect(terminal.text()).toContain(PRINTED.join('\n'));
  // Nothing was cleared, and nothing was printed twice.
  expect(terminal.raw()).not.toMatch(/\x1b\[[23]J/);
  expect(terminal.text().split('let v7 = 7;')).toHaveLength(2);
});

test('the output of a command in mid-stream stands between two blocks', async () => {
  const server = await startMessagesServer(() => slow(say(ANSWER), 15));
  onTestFinished(server.close);
  const terminal = await repl({server, rows: 24});
  await send(terminal, 'go');
  // The code is longer than the live part: its beginning is printed.
  await terminal.waitFor('let v25 = 25;');
  terminal.type('/cost');
  await terminal.waitFor('> /cost');
  terminal.press('enter');
  await terminal.waitFor(/^▌ \/cost\n\n.+/m);
  await idle(terminal);
  const lines = terminal.scrollback();
  const from = lines.indexOf(`  ${CODE[0]}`);
  const code = lines.slice(from, lines.indexOf(`  ${CODE.at(-1)}`) + 1).filter((line) => line.startsWith('  let'));
  expect(code).toEqual(CODE.map((line) => `  ${line}`));
  expect(terminal.text()).toContain('\n\nThat is all.');
  const command = lines.indexOf('▌ /cost');
  expect([lines[command - 1], lines[command + 1]]).toEqual(['', '']);
});
