import {afterEach, describe, expect, test} from 'vitest';
import type {Session} from '../../src/core/contract/session-requests.ts';
import {isLeaving, NO_KEYS, startFirstPaint, takeKeys} from '../../src/ui/first-paint/first-paint.ts';
import {runScreen} from '../../src/ui/screen.tsx';
import {settle} from '../support/wait.ts';
import {createFakeSession} from './fake-session.ts';
import {createFakeTerminal, type FakeTerminal} from './fake-terminal.ts';

const info = {version: '1.2.3', cwd: '/home/me/project', offline: false, isFirst: false};
const running: {readonly leave: (code: number) => void; readonly exit: Promise<number>}[] = [];

afterEach(async () => {
  for (const {leave, exit} of running.splice(0)) {
    leave(0);
    await exit;
  }
});

function paint(terminal: FakeTerminal, env: NodeJS.ProcessEnv = {TERM: 'xterm-256color', NO_COLOR: '1'}) {
  let left = 0;
  const onLeave = () => {
    left += 1;
  };
  return {firstPaint: startFirstPaint(terminal, {...info, env, onLeave}), left: () => left};
}

/** The keys are read and what was written is drawn. */
async function drawn(terminal: FakeTerminal): Promise<void> {
  await settle();
  await terminal.drawn();
}

/** Loads the screen over the first paint. */
function load(terminal: FakeTerminal, {firstPaint}: ReturnType<typeof paint>) {
  const session = createFakeSession();
  let leave: (code: number) => void = () => undefined;
  const exit = runScreen(
    {
      ...{firstPaint, session: Promise.resolve(session as Session)},
      onLeave: (leaveScreen) => {
        leave = leaveScreen;
      },
    },
    terminal,
  );
  running.push({leave: (code) => leave(code), exit});
  return session;
}

const rows = (terminal: FakeTerminal) => terminal.window().split('\n');
/** The prompt's row; there is only one. */
function promptRow(terminal: FakeTerminal): string {
  const found = rows(terminal).filter((row) => row.startsWith('>'));
  expect(found).toHaveLength(1);
  return found[0]!;
}

describe('the first paint', () => {
  test.each([
    [80, 24],
    [40, 16],
    [200, 50],
  ])('is what the screen draws afterwards, in %d × %d', async (columns, height) => {
    const terminal = createFakeTerminal(columns, height);
    const painted = paint(terminal);
    await drawn(terminal);
    const before = {rows: rows(terminal), cursor: terminal.cursor()};
    expect(before.rows.slice(0, 3)).toEqual([
      'mini-cc 1.2.3',
      '/home/me/project',
      '/help lists the commands, ? the keys',
    ]);
    expect(promptRow(terminal)).toBe('> Ask about this project, or /help');
    load(terminal, painted);
    await terminal.shows(/default · .*sonnet/);
    expect({rows: rows(terminal).slice(0, before.rows.length), cursor: terminal.cursor()}).toEqual(before);
    expect(terminal.scrollback()).toBe(terminal.window());
  });

  test.each([
    [39, 24],
    [80, 15],
  ])('has no frame in a window of %d × %d, and keeps what is typed', async (columns, height) => {
    const terminal = createFakeTerminal(columns, height);
    const painted = paint(terminal);
    terminal.type('hi');
    await drawn(terminal);
    expect(terminal.window()).not.toContain('>');
    load(terminal, painted);
    await terminal.shows('> hi');
  });

  test('goes off the screen in one write with the frame that takes its place', async () => {
    const terminal = createFakeTerminal();
    const painted = paint(terminal);
    terminal.type('typed');
    await drawn(terminal);
    const writes: string[] = [];
    const {write} = terminal.stdout;
    terminal.stdout.write = ((...given: Parameters<typeof write>) => {
      writes.push(String(given[0]));
      return Reflect.apply(write, terminal.stdout, given);
    }) as typeof write;
    load(terminal, painted);
    await terminal.shows(/default · .*sonnet/);
    expect(writes[0]).toContain('\u001b[J');
    expect(writes[0]).toContain('typed');
    expect(promptRow(terminal)).toBe('> typed');
  });

  test('is drawn again for another size of the window', async () => {
    const terminal = createFakeTerminal(120, 30);
    const painted = paint(terminal);
    terminal.type('hello');
    await drawn(terminal);
    for (const columns of [60, 100, 45]) {
      terminal.resize(columns, 30);
      await drawn(terminal);
      expect(promptRow(terminal)).toBe('> hello');
      expect(rows(terminal).filter((row) => row.includes('─'))).toHaveLength(2);
    }
    load(terminal, painted);
    await terminal.shows(/default · .*sonnet/);
    expect(promptRow(terminal)).toBe('> hello');
    expect(rows(terminal).filter((row) => row.includes('─'))).toHaveLength(2);
  });

  test.each([['\x04'], ['\x03\x03'], ['abc\x7f\x7f\x7f\x04'], ['abc\x03\x04']])('leaves on %j', async (keys) => {
    const terminal = createFakeTerminal();
    const {left} = paint(terminal);
    terminal.type(keys);
    await drawn(terminal);
    expect(left()).toBe(1);
    expect(terminal.window()).toBe('mini-cc 1.2.3\n/home/me/project\n/help lists the commands, ? the keys');
    expect(terminal.written().endsWith('\u001b[?2004l')).toBe(true);
  });

  test('goes off the screen for an error, once', async () => {
    const terminal = createFakeTerminal();
    const {firstPaint} = paint(terminal);
    firstPaint.remove();
    firstPaint.remove();
    terminal.stdout.write('mini-cc: wrong\n');
    await drawn(terminal);
    expect(terminal.window().split('\n').at(-1)).toBe('mini-cc: wrong');
    expect(terminal.written().split('\u001b[J')).toHaveLength(2);
  });
});

describe('keys typed at a start', () => {
  /** Keys, what stands in the prompt then, and what was sent. */
  const scripts: [keys: string[], prompt: string, sent: string[]][] = [
    [[...'hello world'], 'hello world', []],
    [[...'helo', '\x1b[D', 'l'], 'hello', []],
    [[...'first', '\r', ...'second'], 'second', ['first']],
    [[...'abc', '\x7f', '\x7f', 'd'], 'ad', []],
    [[...'wrong', '\x03', ...'right'], 'right', []],
    [['\x1b[200~two\rlines\x1b[201~', '!'], 'two', []],
    [[...'a b', '\x17', 'c'], 'a c', []],
    [[...'größe 日本', '🙂'], 'größe 日本🙂', []],
    [['\x03', ...'go on'], 'go on', []],
    [['x'.repeat(100)], 'x'.repeat(77), []],
    [[...'helo', '\x1b[D', '\x1b[D', 'l', '\x1b[C', '\x1b[C', '!'], 'hello!', []],
    [['\x1b[200~pasted text\x1b[201~', '\x1b[D', '\x7f', 'Я', '\r', 'ด้'], 'ด้', ['pasted teЯt']],
  ];

  test.each(scripts)('%j arrive once and in order, wherever the screen is ready', async (keys, prompt, sent) => {
    const moments = Array.from({length: keys.length + 1}, (_, ready) => ready);
    const check = async (ready: number) => {
      const terminal = createFakeTerminal();
      const painted = paint(terminal);
      for (const key of keys.slice(0, ready)) {
        terminal.type(key);
        await settle();
      }
      const session = load(terminal, painted);
      await terminal.shows(/default · .*sonnet/);
      for (const key of keys.slice(ready)) {
        terminal.type(key);
        await settle();
      }
      await terminal.shows(new RegExp(`^> ${prompt.replaceAll(/[^\w\s]/gu, '.')}`, 'm'));
      expect(session.submitted, `ready after ${ready} keys`).toEqual(sent);
    };
    // All at the same time.
    await Promise.all(moments.map(check));
  });

  test('text of all scripts is taken before the screen is ready; other keys wait for it', () => {
    const take = (keys: string, columns = 80) => takeKeys(NO_KEYS, keys, columns);
    const taken = (typed: string, behind = '', waiting = '') => ({typed, behind, waiting});
    expect(take('abc')).toEqual(taken('abc'));
    expect(take('?')).toEqual(taken('', '', '?'));
    expect(take('why?')).toEqual(taken('why?'));
    expect(take('abc\rdef')).toEqual(taken('abc', '', '\rdef'));
    expect(take('abcdef', 4)).toEqual(taken('abcd', '', 'ef'));
    expect(take('日本語', 4)).toEqual(taken('日本', '', '語'));
    expect(take('a\x7f\x7fb')).toEqual(taken('b'));
    expect(take('किa\x7f\x7f')).toEqual(taken(''));
    expect(take('👩‍💻❤️👍🏽\x7f')).toEqual(taken('👩‍💻❤️'));
    expect(take('ab\x1b[D\x1b[Dc\x1b[C')).toEqual(taken('ca', 'b'));
    expect(take('\x1b[D')).toEqual(taken('', '', '\x1b[D'));
    expect(take('a\x1b[200~ pasted \x1b[201~b')).toEqual(taken('a pasted b'));
    // The screen looks whether the path is that of an image.
    expect(take('\x1b[200~/a.png\x1b[201~')).toEqual(taken('', '', '\x1b[200~/a.png\x1b[201~'));
    for (const hidden of ['\u202e', '\u200b', '\ufe0f', '\u{10fffd}', '\u{e0041}'])
      expect(take(`a${hidden}b`)).toEqual(taken('a', '', `${hidden}b`));
    expect(isLeaving(take('\x03'))).toBe(false);
    expect(isLeaving(take('a\x04'))).toBe(false);
    expect(isLeaving(take('a\x1b[D\x04'))).toBe(false);
    expect(isLeaving(take('\r\x04'))).toBe(false);
  });
});
