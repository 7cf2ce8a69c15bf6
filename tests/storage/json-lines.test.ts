import {mkdtempSync, readFileSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {execa} from 'execa';
import {expect, it} from 'vitest';
import {readFirstAndLastLine, readFirstLine} from '../../src/storage/json-lines.ts';

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
