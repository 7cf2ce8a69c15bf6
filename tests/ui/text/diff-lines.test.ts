import {describe, expect, test} from 'vitest';
import {countChanges, formatDiff, formatDiffText} from '../../../src/ui/text/diff-lines.ts';
import {highlight} from '../../../src/ui/text/highlight.ts';
import {type Line, layoutLines} from '../../../src/ui/text/lines.ts';
import {plainText} from '../../../src/ui/text/styled-text.tsx';

const shown = (lines: readonly Line[], columns = 80) => layoutLines(lines, columns).map(plainText);
/** The parts of a line with a tone. */
const toned = ({spans}: Line) =>
  spans.flatMap(({text, style: {tone, ground}}) => (tone || ground ? [[text, tone ?? ground]] : []));

const PATCH = [
  '@@ -8,4 +8,5 @@',
  ' function greet(name) {',
  "-  return 'Hello ' + name;",
  "+  return 'Hi ' + name;",
  ' }',
  '@@ -120,2 +121,3 @@',
  ' a',
  '+b',
  ' c',
].join('\n');

describe('a diff', () => {
  test('has the numbers of its lines, signs, and a gap between hunks', () => {
    expect(shown(formatDiff(PATCH, 'greet.js', highlight))).toEqual([
      '  8   function greet(name) {',
      "  9 -   return 'Hello ' + name;",
      "  9 +   return 'Hi ' + name;",
      ' 10   }',
      '    ⋮',
      '121   a',
      '122 + b',
      '123   c',
    ]);
  });

  test('marks the words that changed, and colours the rest by syntax', () => {
    const [, removed, added] = formatDiff(PATCH, 'greet.js', highlight);
    expect(toned(removed!)).toContainEqual(['Hello', 'removedWord']);
    expect(toned(added!)).toContainEqual(['Hi', 'addedWord']);
    expect(toned(added!)).toContainEqual(['return', 'keyword']);
    expect(plainText(added!.spans)).toBe("  return 'Hi ' + name;");
  });

  test('marks nothing in lines that have little in common', () => {
    const [removed, added] = formatDiff('@@ -1,1 +1,1 @@\n-const a = 1;\n+export * from "./b.ts"', 'x.ts', highlight);
    const tones = [...toned(removed!), ...toned(added!)].map(([, tone]) => tone);
    expect(tones).not.toContain('removedWord');
    expect(tones).not.toContain('addedWord');
  });

  test('shows all lines of its hunks, also those that look like file names', () => {
    const patch = '--- a\n+++ b\n@@ -1,1 +1,1 @@\n--- drop table x\n+++ y';
    expect(shown(formatDiff(patch, 'a.sql', highlight))).toEqual([' 1 - -- drop table x', ' 1 + ++ y']);
    expect(shown(formatDiff('(the old content is too large)', 'a', highlight))).toEqual([
      '(the old content is too large)',
    ]);
  });

  test('says where a line end is missing, without the number of a line', () => {
    const patch = '@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file';
    const rows = shown(formatDiff(patch, 'a', highlight));
    expect(rows).toEqual([' 1 - a', '     No newline at end of file', ' 1 + b', '     No newline at end of file']);
  });

  test('shows the line that says how much of it was cut', () => {
    const cut = '@@ -1,1 +1,2 @@\n a\n+b\n(12 more lines of the diff)';
    expect(shown(formatDiff(cut, 'a', highlight)).at(-1)).toContain('(12 more lines of the diff)');
  });

  test('counts what it adds and removes', () => {
    expect(countChanges(PATCH)).toEqual({added: 2, removed: 1});
    expect(countChanges('no diff at all')).toEqual({added: 0, removed: 0});
  });
});

test('the diffs of several files each have their own numbers and language', () => {
  const file = (name: string, code: string) => `diff --git a/${name} b/${name}\n--- a/${name}\n+++ b/${name}\n${code}`;
  const text = `2 files:\n\n${file('a.ts', '@@ -1,0 +1,1 @@\n+const x = 1;')}\n${file('b.py', '@@ -4,1 +4,0 @@\n-pass')}`;
  const lines = formatDiffText(text, highlight);
  expect(shown(lines)).toEqual([
    '2 files:',
    '',
    ...['diff --git a/a.ts b/a.ts', '--- a/a.ts', '+++ b/a.ts', ' 1 + const x = 1;'],
    ...['diff --git a/b.py b/b.py', '--- a/b.py', '+++ b/b.py', ' 4 - pass'],
  ]);
  expect(lines.flatMap(toned)).toContainEqual(['const', 'keyword']);
  expect(lines.flatMap(toned)).toContainEqual(['pass', 'keyword']);
});
