import {mkdirSync, mkdtempSync, realpathSync, symlinkSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {expect, it} from 'vitest';
import {findLinkOut, formatFileName, isInside, listProjectFolders} from '../../../src/core/util/paths.ts';

it.each([
  ['/a', ['/a'], true],
  ['/a/b/c', ['/x', '/a'], true],
  ['/ab', ['/a'], false],
  ['/', ['/a'], false],
  ['/a', ['/'], true],
  ['a/b', ['a/'], true],
  ['/a', [], false],
])('%s is inside of one of %j: %s', (target, folders, expected) => {
  expect(isInside(target, folders)).toBe(expected);
});

const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-paths-')));
const at = (name: string) => path.join(root, name);
mkdirSync(at('top/.git'), {recursive: true});
mkdirSync(at('top/a/b'), {recursive: true});
mkdirSync(at('other'));
symlinkSync('../../other', at('top/a/out'));
symlinkSync('b', at('top/a/in'));

it('the folders of a project go from the top of its repository down', () => {
  expect(listProjectFolders(at('top/a/b'))).toEqual([at('top'), at('top/a'), at('top/a/b')]);
  expect(listProjectFolders(at('top'))).toEqual([at('top')]);
  expect(listProjectFolders(at('other'))).toEqual([at('other')]);
});

it('a link out of a project is told from one that stays in it', () => {
  expect(findLinkOut(at('top/a/out'), at('top'))).toBe(at('other'));
  expect(findLinkOut(at('top/a/in'), at('top'))).toBeUndefined();
});

it('a name is quoted where its characters could imitate lines', () => {
  expect(['a b.ts', 'a\nb', 'a\u2028b', '\x1b[1m'].map(formatFileName)).toEqual([
    ...['a b.ts', '"a\\nb"', '"a\u2028b"', '"\\u001b[1m"'],
  ]);
});
