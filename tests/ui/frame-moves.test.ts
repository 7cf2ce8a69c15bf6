/** The moves of the cursor in a frame: the same picture, and nothing above is lost when the window gets lower meanwhile. */
import headless from '@xterm/headless';
import {describe, expect, test} from 'vitest';
import {shortenMoves} from '../../src/ui/terminal-output.ts';
import {createRandom} from '../support/random.ts';

const E = '\x1b[E';

/** What Ink writes for rows that changed, with the cursor so many rows above the last one. */
function inkFrame(height: number, below: number, changes: Readonly<Record<number, string>>, column = 3): string {
  const rows = Array.from({length: height}, (_, row) =>
    changes[row] === undefined ? E : `\x1b[1G\x1b[K${changes[row]}\n`,
  );
  return `\x1b[?25l\x1b[${below}B\x1b[1G\x1b[${height}A${rows.join('')}\x1b[${below}A\x1b[${column}G\x1b[?25h`;
}

interface Screen {
  readonly write: (text: string) => Promise<void>;
  readonly resize: (columns: number, rows: number) => void;
  readonly lines: () => string[];
  readonly cursor: () => {x: number; y: number};
}

/** A window with twenty printed rows, and a live part of ten rows below them. The cursor is in the fourth of these. */
async function createScreen(): Promise<Screen> {
  const terminal = new headless.Terminal({cols: 60, rows: 18, scrollback: 1000, allowProposedApi: true});
  const write = (text: string) =>
    new Promise<void>((resolve) => terminal.write(text.replace(/(?<!\r)\n/g, '\r\n'), resolve));
  const printed = Array.from({length: 20}, (_, n) => `printed ${n}\n`).join('');
  const live = Array.from({length: 10}, (_, n) => `live ${n}\n`).join('');
  await write(`${printed}${live}\x1b[7A\x1b[3G`);
  const {active} = terminal.buffer;
  return {
    write,
    resize: (columns, rows) => terminal.resize(columns, rows),
    lines: () => Array.from({length: active.length}, (_, y) => active.getLine(y)!.translateToString(true)),
    cursor: () => ({x: active.cursorX, y: active.cursorY}),
  };
}

describe('a frame in which rows change', () => {
  test('looks the same, and the cursor ends where Ink puts it: 200 random frames', async () => {
    const random = createRandom(3);
    const [ink, ours] = [await createScreen(), await createScreen()];
    for (let frame = 0; frame < 200; frame++) {
      const changes: Record<number, string> = {};
      for (let row = 0; row < 10; row++) if (random(4) === 0) changes[row] = `frame ${frame} row ${row}`;
      const text = inkFrame(10, 7, changes, 1 + random(50));
      await ink.write(text);
      await ours.write(shortenMoves(text));
      expect(ours.lines()).toEqual(ink.lines());
      expect(ours.cursor()).toEqual(ink.cursor());
    }
  });

  test('goes to no row that stays as it is', () => {
    expect(shortenMoves(inkFrame(10, 7, {3: 'typed'}, 9))).toBe('\x1b[?25l\x1b[1G\x1b[Ktyped\x1b[9G\x1b[?25h');
    expect(shortenMoves(inkFrame(10, 7, {1: 'a', 8: 'b'}))).toBe(
      '\x1b[?25l\x1b7\x1b[2A\x1b[1G\x1b[Ka\x1b[7B\x1b[1G\x1b[Kb\x1b8\x1b[3G\x1b[?25h',
    );
  });

  test.each([
    ['the row of the cursor', {3: 'typed'}],
    ['a row above it', {1: 'busy'}],
    ['rows below it', {6: 'agent 1', 7: 'agent 2', 9: 'status'}],
    ['all rows', Object.fromEntries(Array.from({length: 10}, (_, row) => [row, `new ${row}`]))],
  ])('is on its way while the window gets lower: %s; nothing printed is erased', async (_name, changes) => {
    const screen = await createScreen();
    // This emulator drops the rows below the cursor, as terminals do; the program does not know it yet.
    screen.resize(60, 12);
    await screen.write(shortenMoves(inkFrame(10, 7, changes)));
    // Now it knows, and draws the live part anew.
    await screen.write('\x1b[3A\x1b[1G\x1b[Jlive again\n');
    const lines = screen.lines();
    for (let n = 0; n < 20; n++) expect(lines.filter((line) => line === `printed ${n}`)).toHaveLength(1);
    expect(lines.filter((line) => /^(?:live|busy|new|agent)/.test(line))).toEqual(['live again']);
  });
});

test.each([
  ['a new row, which must scroll', inkFrame(10, 7, {2: 'x'}).replace('\x1b[7A', 'one more\n\x1b[8A')],
  ['a whole frame', '\x1b[?25l\x1b[8A\x1b[1G\x1b[Ja\nb\nc\n\x1b[2A\x1b[3G\x1b[?25h'],
  ['a frame with fewer rows', '\x1b[?25l\x1b[7B\x1b[1G\x1b[2K\x1b[1A\x1b[2K\x1b[G\x1b[9A\x1b[E\x1b[1G\x1b[Ka\n\x1b[3G'],
  ['text without moves', 'a line\nanother\n'],
])('%s stays as Ink writes it', (_name, text) => {
  expect(shortenMoves(text)).toBe(text);
});
