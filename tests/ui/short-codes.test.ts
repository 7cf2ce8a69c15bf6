/** Shorter codes of styles: the same picture, cell by cell. */
import headless from '@xterm/headless';
import {expect, test} from 'vitest';
import {shortenCodes} from '../../src/ui/short-codes.ts';
import {createRandom} from '../support/random.ts';

const CODES = [
  ...[
    '1',
    '2',
    '22',
    '3',
    '23',
    '4',
    '24',
    '4:3',
    '7',
    '27',
    '9',
    '29',
    '31',
    '35',
    '95',
    '38;5;200',
    '38;2;1;2;3',
    '39',
  ],
  ...['41', '107', '48;5;20', '49', '0', '', '1;36', '53', '55', '21'],
];

/** Each cell of the window with all of its styles, and where the cursor is. */
async function draw(text: string): Promise<unknown> {
  const terminal = new headless.Terminal({cols: 40, rows: 6, allowProposedApi: true});
  await new Promise<void>((resolve) => terminal.write(text, resolve));
  const {active} = terminal.buffer;
  const cells = Array.from({length: 6 * 40}, (_, at) => {
    const cell = active.getLine(Math.floor(at / 40))!.getCell(at % 40)!;
    const styles = [
      cell.isBold(),
      cell.isDim(),
      cell.isItalic(),
      cell.isUnderline(),
      cell.isInverse(),
      cell.isOverline(),
    ];
    const colours = [cell.getFgColorMode(), cell.getFgColor(), cell.getBgColorMode(), cell.getBgColor()];
    return [cell.getChars(), ...styles, cell.isStrikethrough(), ...colours].join();
  });
  return {cells, cursor: [active.cursorX, active.cursorY]};
}

test('the end of the only style in effect is shorter', () => {
  expect(shortenCodes('\x1b[35mlet\x1b[39m x = \x1b[33m1\x1b[39m;')).toBe('\x1b[35mlet\x1b[m x = \x1b[33m1\x1b[m;');
  expect(shortenCodes('\x1b[1m\x1b[36ma\x1b[39mb\x1b[22m')).toBe('\x1b[1m\x1b[36ma\x1b[39mb\x1b[m');
});

test('moves, links and ends of what began before stay as they are', () => {
  for (const text of [
    'a\x1b[39mb',
    '\x1b[2K\x1b[3A',
    '\x1b]8;;https://a.example\x1b\\a\x1b]8;;\x1b\\',
    '\x1b[1;31ma\x1b[39m',
    '\x1b[38;5;1;1ma\x1b[39mb',
  ]) {
    expect(shortenCodes(text)).toBe(text);
  }
});

test('it looks the same: 300 random texts of all styles', async () => {
  const random = createRandom(5);
  for (let round = 0; round < 300; round++) {
    const parts = Array.from(
      {length: 30},
      () => `\x1b[${CODES[random(CODES.length)]}m${['a', ' ', '\r\n', ''][random(4)]}`,
    );
    const text = parts.join('');
    expect(await draw(shortenCodes(text))).toEqual(await draw(text));
  }
});
