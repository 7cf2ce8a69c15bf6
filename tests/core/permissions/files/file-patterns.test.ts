import {mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {expandPattern, listFilesBelow} from '../../../../src/core/permissions/files/file-patterns.ts';

const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-patterns-')));
for (const folder of ['src/deep', '.hidden', 'lib', '.git', 'node_modules', 'odd']) {
  mkdirSync(path.join(base, folder), {recursive: true});
}
for (const file of [
  'a.ts',
  '.env',
  'src/b.ts',
  'src/deep/c.ts',
  '.git/config',
  'node_modules/x.ts',
  'odd/--pre=sh',
  'odd/x.ts',
]) {
  writeFileSync(path.join(base, file), '');
}
symlinkSync('../lib', path.join(base, 'src/to-lib'));

const at = (...names: string[]) => names.map((name) => (name === '.' ? base : `${base}/${name}`));
const expand = (pattern: string) => expandPattern(pattern, base).toSorted();

describe('a pattern of file names', () => {
  it.each([
    ['*.ts', ['.', 'a.ts']],
    ['src/*', ['src', 'src/b.ts', 'src/deep', 'src/to-lib']],
    ['*/b.ts', ['.', 'lib/b.ts', 'node_modules/b.ts', 'odd/b.ts', 'src/b.ts']],
    ['src/*/*.ts', ['src', 'src/deep', 'src/deep/c.ts', 'src/to-lib']],
    ['s[qr]c/?.ts', ['.', 'src', 'src/b.ts']],
    ['.e*', ['.', '.env']],
    ['[.]e*', ['.', '.env']],
    ['no/*', ['no']],
    ['src/b.ts', ['src/b.ts']],
    // A program could read such a name as an option. It still reads the other files.
    ['odd/*', ['odd', 'odd/--pre=sh', 'odd/x.ts']],
  ])('%j reads %j', (pattern, files) => {
    expect(expand(pattern)).toEqual(at(...files).toSorted());
    expect(
      expandPattern(`${base}/${pattern}`, base)
        .map((each) => path.normalize(each))
        .toSorted(),
    ).toEqual(at(...files).toSorted());
  });
});

it('the files below a folder are listed, the nearest first, without those of git and of packages', () => {
  expect(listFilesBelow(base).toSorted()).toEqual(
    at('a.ts', '.env', 'src/b.ts', 'src/deep/c.ts', 'odd/--pre=sh', 'odd/x.ts').toSorted(),
  );
  expect(listFilesBelow(path.join(base, 'src'))).toEqual(at('src/b.ts', 'src/deep/c.ts'));
  expect(listFilesBelow(path.join(base, 'no'))).toEqual([]);
});
