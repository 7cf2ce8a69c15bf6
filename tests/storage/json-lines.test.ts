import {closeSync, mkdtempSync, readFileSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {
  findLastLineWith,
  openForAppending,
  parseLine,
  readFirstAndLastLine,
  readFirstLine,
  readLastLines,
  readLines,
} from '../../src/storage/json-lines.ts';

it('a line that the disk can store only in part leaves nothing, and the next line is whole', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'lines-'));
  const file = path.join(folder, 'lines.jsonl');
  const program = path.join(folder, 'append.mts');
  const wholeLines = path.resolve(import.meta.dirname, '../../src/storage/json-lines.ts');
  const text = `import {openSync} from 'node:fs';
import {appendLine} from ${JSON.stringify(wholeLines)};
const fd = openSync(${JSON.stringify(file)}, 'a');
appendLine(fd, 'first');
try { appendLine(fd, 'x'.repeat(5000)); } catch (error) { console.log(error.code); }
appendLine(fd, 'last');`;
  writeFileSync(program, text);
  // Files may have at most 1024 bytes: this acts like a full disk.
  const node = [process.execPath, '--experimental-transform-types'];
  const {stdout} = await execa('bash', ['-c', 'ulimit -f 1; exec "$@"', 'bash', ...node, program]);
  expect(stdout).toBe('EFBIG');
  expect(readFileSync(file, 'utf8')).toBe('first\nlast\n');
});

it.each([10, 70_000, 300_000])('the first and the last line are whole, with %d characters each', (length) => {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'lines-')), 'lines.jsonl');
  const [first, last] = ['a'.repeat(length), 'z'.repeat(length)];
  for (const [text, end] of [
    [`${first}\nmiddle\n${last}\n`, last],
    [`${first}\nmiddle\n${last}`, last],
    [`${first}\n`, first],
    [first, first],
  ] as const) {
    writeFileSync(file, text);
    expect(readFirstLine(file)).toBe(first);
    expect(readFirstAndLastLine(file)).toEqual({first, last: end});
  }
});

/** So many bytes are read at once. */
const BLOCK = 1024 * 1024;

describe('a file of lines', () => {
  const given = (text: string) => {
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'lines-')), 'lines.jsonl');
    writeFileSync(file, text);
    return file;
  };

  it.each([
    ['empty lines and a last one without an end', ['', 'a', '', 'é']],
    ['an end after the last line', ['a', '']],
    ['lines that end with a block, or one before or after', [BLOCK - 1, BLOCK - 2, BLOCK, 3].map((n) => 'x'.repeat(n))],
    ['a line over several blocks, with letters of two bytes', ['a', `b${'é'.repeat(1.5 * BLOCK)}`, 'c']],
  ])('is read line by line: %s', (_, lines) => {
    expect([...readLines(given(lines.join('\n')))]).toEqual(lines);
  });

  it('is read in part, from the beginning of a line to that of another one', () => {
    const file = given('one\ntwo\nthree\nfour');
    expect([...readLines(file, undefined, {from: 4})]).toEqual(['two', 'three', 'four']);
    expect([...readLines(file, undefined, {from: 4, end: 14})]).toEqual(['two', 'three', '']);
  });

  it('gives the last line that begins with a text, also where two blocks meet', () => {
    const file = given('aa first\naa 1\nb aa\naa 2\nc');
    expect(findLastLineWith(file, 'aa')).toBe(19);
    expect(findLastLineWith(file, 'aa', 19)).toBe(9);
    expect(findLastLineWith(file, 'aa', 9)).toBeUndefined();
    expect(findLastLineWith(given(''), 'aa')).toBeUndefined();
    for (const after of Array.from({length: 6}, (_, index) => BLOCK - index)) {
      const long = given(`one\nfound${'x'.repeat(after - 'found'.length)}`);
      expect(findLastLineWith(long, 'found')).toBe(4);
    }
  });

  it('gives its last lines, of which the first one may be cut off', () => {
    const file = given('one\ntwo\nthree\n');
    expect(readLastLines(file, 8)).toEqual(['o', 'three', '']);
    expect(readLastLines(file, 100)).toEqual(['one', 'two', 'three', '']);
    expect(readFirstLine(given('\nsecond'))).toBe('');
    expect(readFirstAndLastLine(given(''))).toEqual({first: '', last: ''});
  });

  it('gets a first line when it is empty, and an end of a line that was cut off', () => {
    const texts = ['', 'whole\n', 'cut o'].map((text) => {
      const file = given(text);
      closeSync(openForAppending(file, () => 'header'));
      return readFileSync(file, 'utf8');
    });
    expect(texts).toEqual(['header\n', 'whole\n', 'cut o\n']);
  });

  it('has lines that are no JSON: a blank one, and one that was cut off', () => {
    expect(['{"a": 1}', ' ', '{"a', '2'].map(parseLine)).toEqual([{a: 1}, undefined, undefined, 2]);
  });
});
