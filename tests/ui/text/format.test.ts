import chalk from 'chalk';
import {describe, expect, test} from 'vitest';
import {createFormatter} from '../../../src/ui/text/format.ts';
import {highlight} from '../../../src/ui/text/highlight.ts';
import {layoutLines} from '../../../src/ui/text/lines.ts';
import {paintRow, plainText} from '../../../src/ui/text/styled-text.tsx';
import {getTheme} from '../../../src/ui/theme.ts';

const {format, lex} = createFormatter();

function drawn(text: string, columns = 60): string {
  return layoutLines(format(lex(text)), columns)
    .map((row) => plainText(row).trimEnd())
    .join('\n');
}

test('inline marks become styles', () => {
  expect(drawn('# Title\n\nSome **bold**, *it*, `a < b`, ~~old~~ &lt;x&gt; \\*star\\*.')).toBe(
    'Title\n\nSome bold, it, a < b, old <x> *star*.',
  );
});

test('a link shows its address', () => {
  expect(drawn('[docs](https://a.b/c) and https://d.e')).toBe('docs (https://a.b/c) and https://d.e');
});

test('lists keep their numbers and nest', () => {
  expect(drawn('3. three\n4. four\n   - in\n\n- [x] did\n- [ ] to do')).toBe(
    '3. three\n4. four\n   - in\n\n- [x] did\n- [ ] to do',
  );
});

test('the rows of a wrapped item are indented like its text', () => {
  expect(drawn('- one two three four', 11)).toBe('- one two\n  three\n  four');
  expect(drawn('aaaa bbbb cccc', 9)).toBe('aaaa bbbb\ncccc');
});

test('code keeps its spaces and marks', () => {
  expect(drawn('```ts\nif (a) {\n  b = "**x**";\n}\n```')).toBe('  if (a) {\n    b = "**x**";\n  }');
});

describe('a table', () => {
  const table = '| a | right | mid |\n|---|--:|:-:|\n| one two three four | 12 | x |\n| 2 | 3456 | yyy |';

  test('has rules, and its columns are aligned as it says', () => {
    expect(drawn(table)).toBe(
      [
        'a                  │ right │ mid',
        '───────────────────┼───────┼────',
        'one two three four │    12 │  x',
        '2                  │  3456 │ yyy',
      ].join('\n'),
    );
  });

  test('wraps its cells in a narrow window, with a rule between rows', () => {
    expect(drawn(table, 24)).toBe(
      [
        'a          │ right │ mid',
        '───────────┼───────┼────',
        'one two    │    12 │  x',
        'three four │       │',
        '───────────┼───────┼────',
        '2          │  3456 │ yyy',
      ].join('\n'),
    );
  });

  test('whose columns would get too narrow is a list of names and values', () => {
    expect(drawn('| name | city | age | job |\n|-|-|-|-|\n| Alexander | Amsterdam | forty-two | carpenter |', 20)).toBe(
      'name: Alexander\ncity: Amsterdam\nage: forty-two\njob: carpenter',
    );
  });
});

test('a reference and its address are shown as they are written: it may come after the text is printed', () => {
  expect(drawn('See [docs][d].\n\n[d]: https://a.b')).toBe('See [docs][d].\n\n[d]: https://a.b');
});

test('blank lines between items are as in the text', () => {
  expect(drawn('- a\n- b\n\n- c')).toBe('- a\n- b\n\n- c');
});

test('quotes, rules and raw HTML are shown', () => {
  expect(drawn('> said\n\n---\n\n<b>x</b>')).toBe('│ said\n\n────────────────────\n\n<b>x</b>');
});

test('the highlighter loses no character', () => {
  const code = 'const a: string = `x & "q"`; 1 < 2; // <b>\'</b>\n';
  const spans = highlight(code, 'typescript');
  expect(spans.map(({text}) => text).join('')).toBe(code);
  expect(spans.some(({scope}) => scope === 'keyword')).toBe(true);
  expect(highlight(code, 'no-such-language')).toEqual([{text: code, scope: ''}]);
});

test('neighbours that look the same get their codes once', () => {
  const {level} = chalk;
  chalk.level = 1;
  try {
    const rows = layoutLines(format(lex('## Part **n1** of `x`')), 80);
    expect(paintRow(rows[0]!, getTheme()).split('\x1b[1m')).toHaveLength(2);
    expect(rows.map(plainText)).toEqual(['Part n1 of x']);
  } finally {
    chalk.level = level;
  }
});
