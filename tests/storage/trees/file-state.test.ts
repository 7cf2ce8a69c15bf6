import {mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {blobId, changeState, type FileState, sortChanges} from '../../../src/storage/trees/file-state.ts';

function folder(): string {
  const made = realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-state-')));
  onTestFinished(() => rmSync(made, {recursive: true, force: true}));
  return made;
}

const [OLD, NEW] = [Buffer.from('old\n'), Buffer.from('new\n')];
const file = (content: Buffer): FileState => ({kind: 'file', id: blobId(content)});
const contents = new Map([[blobId(NEW), NEW]]);

test('a file is changed only when it is as expected, after what is there was kept', async () => {
  const place = path.join(folder(), 'a.txt');
  writeFileSync(place, OLD);
  const change = {from: file(OLD), to: file(NEW), contents};
  const kept: unknown[] = [];
  const noted: unknown[] = [];
  const keep = async ({content}: {content?: Buffer}) => void kept.push(String(content), readFileSync(place, 'utf8'));
  const note = (before: FileState, after: FileState) => void noted.push(before, after);
  expect(await changeState(place, change, {keep, note})).toMatchObject({id: blobId(OLD)});
  expect(readFileSync(place)).toEqual(NEW);
  expect(kept).toEqual(['old\n', 'old\n']);
  expect(noted).toMatchObject([file(OLD), file(NEW)]);
  writeFileSync(place, 'of a person\n');
  await expect(changeState(place, change, {keep, note})).rejects.toMatchObject({code: 'CHANGED'});
  await expect(changeState(place, {from: null, to: file(OLD), contents})).rejects.toMatchObject({code: 'NOT_KEPT'});
  expect(readFileSync(place, 'utf8')).toBe('of a person\n');
  expect([kept.length, noted.length]).toEqual([2, 2]);
});

test('removals come first, the deepest before the folders that they free', () => {
  const changes = [
    {path: 'a', to: file(NEW)},
    {path: 'a/b', to: null},
    {path: 'a/c/d', to: null},
  ];
  expect(sortChanges(changes).map((change) => change.path)).toEqual(['a/c/d', 'a/b', 'a']);
});
