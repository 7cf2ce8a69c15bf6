/** Placeholders for protected places that do not exist. */
import {existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {expect, it, onTestFinished} from 'vitest';
import {Placeholders} from '../../src/sandbox/placeholders.ts';

const OWN = `.held-by-${process.pid}`;
/** More than any system gives to a process. */
const DEAD = '.held-by-2147483646';
const LIVE = `.held-by-${process.ppid}`;

function createFolder(): (name: string) => string {
  const folder = mkdtempSync(path.join(tmpdir(), 'mini-cc-placeholders-'));
  onTestFinished(() => rmSync(folder, {recursive: true}));
  return (name) => path.join(folder, name);
}

it('a placeholder is there until the last command that needs it ends', () => {
  const at = createFolder();
  const [placeholders, folder, file] = [new Placeholders(), {path: at('.git')}, {path: at('config'), content: '{}'}];
  for (const each of [folder, file, folder]) expect(placeholders.acquire(each)).toBe(true);
  expect([readdirSync(folder.path), readFileSync(file.path, 'utf8')]).toEqual([[OWN], '{}']);
  expect([Placeholders.isOne(folder), Placeholders.isOne(file)]).toEqual([true, true]);
  placeholders.release(folder.path);
  placeholders.release(file.path);
  placeholders.release(at('never'));
  expect([existsSync(folder.path), existsSync(file.path)]).toEqual([true, false]);
  placeholders.release(folder.path);
  expect(existsSync(folder.path)).toBe(false);
  placeholders.acquire(folder);
  expect(existsSync(folder.path)).toBe(true);
  placeholders.release(folder.path);
  expect(existsSync(folder.path)).toBe(false);
});

it('what others have put in its place is none, and stays', () => {
  const at = createFolder();
  for (const name of ['real', 'empty', 'mixed']) mkdirSync(at(name));
  writeFileSync(at('real/HEAD'), '');
  mkdirSync(at(`mixed/${OWN}`));
  writeFileSync(at('mixed/HEAD'), '');
  writeFileSync(at('file'), 'other');
  const real = ['real', 'empty', 'mixed', 'file', 'missing'].map((name) => ({path: at(name)}));
  const files = ['file', 'missing', 'real'].map((name) => ({path: at(name), content: '{}'}));
  expect([...real, ...files].filter(Placeholders.isOne)).toEqual([]);
  const placeholders = new Placeholders();
  expect(() => placeholders.acquire(files[0]!)).toThrow(/EEXIST/);
  const [ours, folder] = [{path: at('ours'), content: '{}'}, {path: at('folder')}];
  for (const each of [ours, folder]) placeholders.acquire(each);
  writeFileSync(ours.path, 'written by another');
  writeFileSync(at('folder/HEAD'), 'ref');
  for (const each of [ours, folder]) placeholders.release(each.path);
  expect([readFileSync(ours.path, 'utf8'), readdirSync(folder.path)]).toEqual(['written by another', ['HEAD']]);
});

it('a placeholder of a process that lives stays, and that of one that is dead goes with the last command', () => {
  const at = createFolder();
  const placeholders = new Placeholders();
  for (const [name, owner] of [
    ['a', DEAD],
    ['b', LIVE],
  ] as const) {
    mkdirSync(at(`${name}/${owner}`), {recursive: true});
    placeholders.acquire({path: at(name)});
    expect(Placeholders.isOne({path: at(name)})).toBe(true);
    placeholders.release(at(name));
  }
  expect([existsSync(at('a')), readdirSync(at('b'))]).toEqual([false, [LIVE]]);
});

it('files that a killed mini-cc left go only together with its folders', () => {
  const at = createFolder();
  const file = {path: at('config'), content: '{}'};
  const folders = [{path: at('a')}, {path: at('b')}];
  const leave = (owners: readonly string[]) => {
    writeFileSync(file.path, '{}');
    for (const [index, owner] of owners.entries()) mkdirSync(path.join(folders[index]!.path, owner), {recursive: true});
    Placeholders.removeLeft([file, ...folders]);
    return [file, ...folders].map((each) => existsSync(each.path));
  };
  expect(leave([])).toEqual([true, false, false]);
  expect(leave([DEAD, LIVE])).toEqual([true, false, true]);
  rmSync(folders[1]!.path, {recursive: true});
  expect(leave([OWN])).toEqual([true, true, false]);
  rmSync(folders[0]!.path, {recursive: true});
  expect(leave([DEAD, DEAD])).toEqual([false, false, false]);
});
