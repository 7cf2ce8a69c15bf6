import {execFileSync} from 'node:child_process';
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {lstat, open} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {readAll, removeDrafts, writeWhole} from '../../../../src/core/util/files/whole-file.ts';
import {runOnSmallDisk} from '../../../support/small-disk.ts';

function folder(): string {
  const made = realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-whole-')));
  onTestFinished(() => rmSync(made, {recursive: true, force: true}));
  return made;
}

describe('writeWhole', () => {
  test('creates and replaces a file, and leaves nothing beside it', async () => {
    const at = folder();
    const file = path.join(at, 'a.txt');
    await writeWhole(file, 'one');
    chmodSync(file, 0o751);
    const {ino} = statSync(file);
    await writeWhole(file, Buffer.from('two'));
    expect(readFileSync(file, 'utf8')).toBe('two');
    expect(statSync(file).mode & 0o7777).toBe(0o751);
    expect(statSync(file).ino).not.toBe(ino);
    expect(readdirSync(at)).toEqual(['a.txt']);
  });

  test('gives the mode it was told, also to a file that is there', async () => {
    const file = path.join(folder(), 'a.txt');
    writeFileSync(file, 'one', {mode: 0o644});
    await writeWhole(file, 'two', {mode: 0o600});
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('keeps the owner', async () => {
    const file = path.join(folder(), 'a.txt');
    writeFileSync(file, 'one');
    // Only root may give a file away; others have at least their groups.
    const [uid, gid] = process.getuid?.() === 0 ? [1234, 2345] : [process.getuid!(), process.getgroups!().at(-1)!];
    chownSync(file, uid, gid);
    await writeWhole(file, 'two');
    expect(statSync(file)).toMatchObject({uid, gid});
  });

  test('writes a file with further names in place, so that all names have the new content', async () => {
    const at = folder();
    const [file, other] = [path.join(at, 'a.txt'), path.join(at, 'b.txt')];
    writeFileSync(file, 'a longer text than the next');
    linkSync(file, other);
    await writeWhole(file, 'two');
    expect(readFileSync(other, 'utf8')).toBe('two');
    expect(statSync(file).nlink).toBe(2);
    expect(readdirSync(at)).toEqual(['a.txt', 'b.txt']);
  });

  test('writes a file whose name is as long as names can be', async () => {
    const file = path.join(folder(), 'é'.repeat(127));
    await writeWhole(file, 'one');
    await writeWhole(file, 'two');
    expect(readFileSync(file, 'utf8')).toBe('two');
  });

  test('writes a content that is larger than one write', async () => {
    const file = path.join(folder(), 'a.txt');
    const content = Buffer.alloc(9_000_001, 'text');
    await writeWhole(file, content, {durable: false});
    expect(readFileSync(file).equals(content)).toBe(true);
  });

  test('follows a link, and writes nothing over a file when told that there is none', async () => {
    const at = folder();
    writeFileSync(path.join(at, 'a.txt'), 'one');
    symlinkSync('a.txt', path.join(at, 'link'));
    await writeWhole(path.join(at, 'link'), 'two');
    expect(lstatSync(path.join(at, 'link')).isSymbolicLink()).toBe(true);
    await expect(writeWhole(path.join(at, 'a.txt'), 'x', {over: 'nothing'})).rejects.toMatchObject({code: 'CHANGED'});
    await writeWhole(path.join(at, 'new.txt'), 'new', {over: 'nothing'});
    expect(readdirSync(at).map((name) => readFileSync(path.join(at, name), 'utf8'))).toEqual(['two', 'two', 'new']);
    expect(statSync(path.join(at, 'new.txt')).nlink).toBe(1);
  });

  test('writes nothing over a file that changed while the new content was made', async () => {
    const at = folder();
    const file = path.join(at, 'a.txt');
    writeFileSync(file, 'one');
    const stamp = await lstat(file, {bigint: true});
    const content = async function* () {
      yield Buffer.from('new ');
      writeFileSync(file, 'by another program');
      yield Buffer.from('content');
    };
    await expect(writeWhole(file, content, {over: stamp})).rejects.toMatchObject({code: 'CHANGED'});
    expect(readFileSync(file, 'utf8')).toBe('by another program');
    expect(readdirSync(at)).toEqual(['a.txt']);
  });

  test('shows a file that gets a mode to nobody else while it is written', async () => {
    const at = folder();
    writeFileSync(path.join(at, 'a.txt'), 'one', {mode: 0o666});
    const modes: number[] = [];
    const content = async function* () {
      const draft = readdirSync(at).find((name) => name.startsWith('.mini-cc-draft-'))!;
      modes.push(statSync(path.join(at, draft)).mode & 0o777);
      yield Buffer.from('new');
    };
    await writeWhole(path.join(at, 'a.txt'), content);
    expect(modes).toEqual([0o600]);
  });

  test('makes the new content from the old one, also of a file that is written in place', async () => {
    const at = folder();
    for (const hasOther of [false, true]) {
      const file = path.join(at, `a${hasOther}`);
      writeFileSync(file, 'one two three');
      if (hasOther) linkSync(file, path.join(at, 'other'));
      await writeWhole(file, async function* (old) {
        yield Buffer.from('a much longer beginning than the old content, then ');
        yield* readAll(old, {from: 4});
      });
      expect(readFileSync(file, 'utf8')).toBe('a much longer beginning than the old content, then two three');
    }
  });

  test('removes at the next start what a killed process was writing, and nothing else', () => {
    const at = folder();
    const pid = Number(execFileSync('sh', ['-c', 'echo $$'], {encoding: 'utf8'}));
    const names = [
      `.mini-cc-draft-${process.pid}-0123456789ab`,
      '.mini-cc-draft-x',
      `.mini-cc-kept-${pid}-0123456789ab`,
    ];
    for (const name of [...names, `.mini-cc-draft-${pid}-0123456789ab`]) writeFileSync(path.join(at, name), '');
    removeDrafts(at);
    removeDrafts(path.join(at, 'missing'));
    expect(readdirSync(at).sort()).toEqual(names.sort());
  });
});

/** What became of a file on a disk with too little room, and what the error says. */
interface Outcome {
  readonly message: string;
  readonly code: string;
  readonly content: string;
  readonly names: readonly string[];
}

const ON_DISK = `
import {linkSync, mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {execFileSync} from 'node:child_process';
import {writeWhole} from '$SRC/core/util/files/whole-file.ts';
process.chdir(process.env.DISK);
async function attempt(name, content) {
  let failed = {};
  try { await writeWhole(process.env.DISK + '/' + name, content); } catch (error) { failed = {message: error.message, code: error.code}; }
  let now = '';
  try { now = readFileSync(name, 'utf8'); } catch {}
  return {...failed, content: now.slice(0, 20) + (now.length > 20 ? '… ' + now.length : ''), names: readdirSync('.').sort()};
}
const print = (value) => console.log(JSON.stringify(value));
`;

describe.runIf(process.platform === 'linux')('on a disk with too little room', () => {
  test('the old content stands, and the error says so', async () => {
    const program = `${ON_DISK}
writeFileSync('a.txt', 'old');
const replaced = await attempt('a.txt', 'x'.repeat(200_000));
const created = await attempt('b.txt', 'x'.repeat(200_000));
linkSync('a.txt', 'c.txt');
const inPlace = await attempt('a.txt', 'x'.repeat(200_000));
print([replaced, created, inPlace]);`;
    const [replaced, created, inPlace] = (await runOnSmallDisk(program, 64)) as Outcome[];
    expect(replaced).toMatchObject({code: 'NOT_WRITTEN', content: 'old', names: ['a.txt']});
    expect(replaced!.message).toMatch(
      /a\.txt could not be written \(ENOSPC: no space left on device\): it is as it was\.$/,
    );
    expect(created).toMatchObject({code: 'NOT_WRITTEN', content: '', names: ['a.txt']});
    expect(created!.message).toMatch(/: it was not created\.$/);
    expect(inPlace).toMatchObject({code: 'NOT_WRITTEN', content: 'old', names: ['a.txt', 'c.txt']});
  });

  test('a mounted file is written in place', async () => {
    const program = `${ON_DISK}
mkdirSync('elsewhere');
writeFileSync('elsewhere/a.txt', 'a long old content');
writeFileSync('a.txt', '');
execFileSync('mount', ['--bind', 'elsewhere/a.txt', 'a.txt']);
const done = await attempt('a.txt', 'new');
const failed = await attempt('a.txt', 'x'.repeat(200_000));
print([done, failed]);`;
    const [done, failed] = (await runOnSmallDisk(program, 64)) as Outcome[];
    expect(done).toEqual({content: 'new', names: ['a.txt', 'elsewhere']});
    expect(failed).toMatchObject({code: 'NOT_WRITTEN', content: 'new', names: ['a.txt', 'elsewhere']});
  });

  test('a file in a folder that is mounted read-only is written in place, where the file itself is not', async () => {
    const program = `${ON_DISK}
mkdirSync('elsewhere');
writeFileSync('elsewhere/a.txt', 'old');
mkdirSync('folder');
writeFileSync('folder/a.txt', '');
execFileSync('mount', ['--bind', 'folder', 'folder']);
execFileSync('mount', ['--bind', 'elsewhere/a.txt', 'folder/a.txt']);
execFileSync('mount', ['-o', 'remount,bind,ro', 'folder']);
print([await attempt('folder/a.txt', 'new'), await attempt('folder/b.txt', 'new')]);`;
    const [done, refused] = (await runOnSmallDisk(program, 64)) as Outcome[];
    expect(done).toMatchObject({content: 'new'});
    expect(done!.code).toBeUndefined();
    expect(refused!.message).toMatch(
      /b\.txt could not be written \(EROFS: read-only file system\): it was not created\.$/,
    );
  });

  test('the copy of the old content is named when a file that is written in place can be neither new nor old', async () => {
    const program = `${ON_DISK}
writeFileSync('a.txt', 'o'.repeat(30_000));
linkSync('a.txt', 'c.txt');
const failed = await attempt('a.txt', async function* () {
  yield Buffer.from('new');
  // No file may be longer than this from now on: writing goes wrong, and putting back does too.
  execFileSync('prlimit', ['--pid', process.pid, '--fsize=1024:1024']);
  yield Buffer.alloc(2000);
});
print([failed, readdirSync('.').filter((name) => name.startsWith('.mini-cc-kept-')).map((name) => readFileSync(name, 'utf8').length)]);`;
    const [failed, kept] = (await runOnSmallDisk(program, 640)) as [Outcome, number[]];
    expect(failed.code).toBe('DAMAGED');
    const copy = failed.names.find((name) => name.startsWith('.mini-cc-kept-'));
    expect(failed.message).toMatch(/EFBIG: file too large.*: it is damaged\. Its old content is kept in /);
    expect(failed.message.endsWith(`/${copy}.`)).toBe(true);
    expect(kept).toEqual([30_000]);
  });
});

test('a small file is read with small buffers, a large one in chunks that grow', async () => {
  const file = path.join(folder(), 'file');
  const readSizes = async (size: number) => {
    writeFileSync(file, Buffer.alloc(size, 'a'));
    const handle = await open(file);
    const sizes: {bytes: number; buffer: number}[] = [];
    for await (const chunk of readAll(handle)) sizes.push({bytes: chunk.length, buffer: chunk.buffer.byteLength});
    await handle.close();
    return sizes;
  };
  expect(await readSizes(10)).toEqual([{bytes: 10, buffer: 16_384}]);
  const large = await readSizes(3_000_000);
  expect(large.reduce((sum, {bytes}) => sum + bytes, 0)).toBe(3_000_000);
  expect(large.length).toBeLessThan(7);
});
