import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {FileLocks} from '../../../src/tools/files/change-file.ts';
import {createEditFile} from '../../../src/tools/files/edit-file.ts';
import {createReadFile} from '../../../src/tools/files/read-file.ts';
import {fixture} from '../fixture.ts';

const editFile = createEditFile(new FileLocks());

/** Some more than what is read at once, and than what may be in memory. */
const LINES = 1_200_000;
const createLines = (end: string) => Array.from({length: LINES}, (_, index) => `line ${index}${end}`);

async function createLarge(content: string | Buffer) {
  const {call, put, root} = fixture();
  put({'large.txt': content});
  const path = join(root, 'large.txt');
  await call(createReadFile(), {path, limit: 1});
  return {
    path,
    call,
    edit: (input: object) => call(editFile, {path: 'large.txt', ...input}),
    text: () => readFileSync(path, 'utf8'),
  };
}

describe('edit_file, in a file that is too large for memory', () => {
  test('replaces a string that occurs once, wherever it is, and shows the place', async () => {
    const lines = createLines('\r\n');
    const {edit, text} = await createLarge(lines.join(''));
    // The parts in which the file is read end at multiples of 4 MiB.
    const borders = [2].map((part) => Math.floor((part * 4 * 1024 * 1024) / (lines.join('').length / LINES)));
    for (const at of [0, ...borders.flatMap((border) => [border - 1, border, border + 1]), LINES - 1]) {
      const result = await edit({old_string: `line ${at}\n`, new_string: `line ${at} é\nmore\n`});
      expect(result.isError, result.text).toBeUndefined();
      expect(result.text).toContain(`+line ${at} é\n+more`);
      lines[at] = `line ${at} é\r\nmore\r\n`;
    }
    expect(text() === lines.join('')).toBe(true);
    const {text: shown} = await edit({old_string: 'line 600000\n', new_string: 'X\n'});
    const before = lines.slice(0, 600_000).join('').split('\n').length - 1;
    expect(shown).toContain(
      `@@ -${before - 2},7 +${before - 2},7 @@\n line 599997\n line 599998\n line 599999\n-line 600000\n+X\n line 600001`,
    );
  });

  test('finds every match that lies across the parts in which it is read', async () => {
    const word = 'needle';
    const size = 4 * 1024 * 1024;
    for (let shift = 0; shift <= word.length; shift += 1) {
      const head = 'x'.repeat(size - shift);
      const content = `${head}${word}${'y'.repeat(2 * size - word.length)}`;
      const {edit, text} = await createLarge(content);
      await edit({old_string: word, new_string: 'N'});
      expect(text() === `${head}N${'y'.repeat(2 * size - word.length)}`).toBe(true);
    }
  });

  test('applies several edits in order, all or none, and says what is wrong', async () => {
    const {edit, text} = await createLarge(createLines('\n').join(''));
    const before = text();
    const several = (old_string: string) =>
      edit({
        edits: [
          {old_string: 'line 5\n', new_string: 'FIVE\n'},
          {old_string, new_string: 'x'},
        ],
      });
    expect((await several('nowhere')).text).toMatch(
      /^large\.txt: edits\[1\]: old_string was not found: .* Nothing was changed\.$/,
    );
    expect((await several('line 777')).text).toMatch(/edits\[1\]: old_string is there 1111 times \(lines 778, 7771, /);
    expect(text() === before).toBe(true);
    expect((await several('FIVE')).text).toMatch(/^Edited large\.txt \(2 replacements\)/);
    expect(text() === before.replace('line 5\n', 'x\n')).toBe(true);
    const all = await edit({old_string: 'line 1199', new_string: 'L', replace_all: true});
    expect(all.text).toMatch(/^Edited large\.txt \(1111 replacements\)/);
    expect(all.text.length).toBeLessThan(10_000);
    expect((await edit({old_string: 'line ', new_string: 'L', replace_all: true})).text).toContain(
      'at most 100000 are replaced',
    );
  });

  test('refuses a file that changed since it was read, and writes again what it wrote itself', async () => {
    const {edit, path, text} = await createLarge(createLines('\n').join(''));
    const one = {old_string: 'line 1\n', new_string: 'one\n'};
    expect((await edit(one)).isError).toBeUndefined();
    expect((await edit({old_string: 'one\n', new_string: 'ONE\n'})).isError).toBeUndefined();
    writeFileSync(path, text());
    expect((await edit({old_string: 'ONE\n', new_string: 'one\n'})).text).toContain(
      'changed since you read it (outside mini-cc)',
    );
  });

  test('keeps UTF-16 and Latin-1', async () => {
    const utf16 = Buffer.from(`\ufeff${createLines('\n').join('')}日`, 'utf16le').swap16();
    const big = await createLarge(utf16);
    await big.edit({old_string: 'line 1000000\n', new_string: '😀\n'});
    expect(
      readFileSync(big.path).swap16().toString('utf16le') ===
        `\ufeff${createLines('\n').join('').replace('line 1000000\n', '😀\n')}日`,
    ).toBe(true);
    const latin1 = await createLarge(Buffer.from(`caf\xe9\n${createLines('\n').join('')}`, 'latin1'));
    expect((await latin1.call(createReadFile(), {path: 'large.txt', limit: 1})).text).toContain('café');
    await latin1.edit({old_string: 'café', new_string: 'thé'});
    expect(readFileSync(latin1.path).subarray(0, 4)).toEqual(Buffer.from('th\xe9\n', 'latin1'));
  });
});
