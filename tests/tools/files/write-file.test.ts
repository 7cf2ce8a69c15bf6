import {execFileSync} from 'node:child_process';
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import type {Access} from '../../../src/core/contract/permission.ts';
import {createFileLedger} from '../../../src/core/turn/file-ledger.ts';
import {FileLocks} from '../../../src/tools/files/change-file.ts';
import {createReadFile} from '../../../src/tools/files/read-file.ts';
import {createWriteFile} from '../../../src/tools/files/write-file.ts';
import {fixture} from '../fixture.ts';

const writeFile = createWriteFile(new FileLocks());

describe('write_file', () => {
  test('creates a file with its directories', async () => {
    const {call, root} = fixture();
    const result = await call(writeFile, {path: 'a/b/c.txt', content: 'one\ntwo\n'});
    expect(result).toMatchObject({
      text: 'Created a/b/c.txt (2 lines).',
      facts: {changed: [join(root, 'a/b/c.txt')]},
      display: {type: 'diff', path: join(root, 'a/b/c.txt'), patch: '@@ -0,0 +1,2 @@\n+one\n+two'},
    });
    expect(readFileSync(join(root, 'a/b/c.txt'), 'utf8')).toBe('one\ntwo\n');
  });

  test('replaces a file that was read, keeps its mode, and shows the diff', async () => {
    const {call, put, root} = fixture();
    put({'a.sh': 'one\ntwo\n'});
    execFileSync('chmod', ['751', join(root, 'a.sh')]);
    await call(createReadFile(), {path: 'a.sh'});
    const result = await call(writeFile, {path: 'a.sh', content: 'one\nthree\n'});
    expect(result.text).toBe('Updated a.sh (2 lines).');
    expect(result.display).toMatchObject({patch: '@@ -1,2 +1,2 @@\n one\n-two\n+three'});
    expect(statSync(join(root, 'a.sh')).mode & 0o777).toBe(0o751);
    expect(readdirSync(root)).toEqual(['a.sh']);
  });

  test('writes a file again without another read', async () => {
    const {call, root} = fixture();
    await call(writeFile, {path: 'a.txt', content: 'one'});
    expect((await call(writeFile, {path: 'a.txt', content: 'two'})).text).toBe('Updated a.txt (1 line).');
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('two');
  });

  test('does not write a mark where a key was, unless the file has it already', async () => {
    const {call, put, root} = fixture();
    put({'.env': 'KEY=sk-real-value\n', 'notes.md': 'shown as [redacted: KEY]\n'});
    await call(createReadFile(), {path: '.env'});
    await call(createReadFile(), {path: 'notes.md'});
    const {text, isError} = await call(writeFile, {path: '.env', content: 'KEY=[redacted: KEY]\nMORE=1\n'});
    expect(text).toMatch(/^\.env: \[redacted: KEY\] stands for a value that mini-cc hides, .*Nothing was changed/);
    expect(isError).toBe(true);
    expect(readFileSync(join(root, '.env'), 'utf8')).toBe('KEY=sk-real-value\n');
    const unchanged = await call(writeFile, {path: 'notes.md', content: 'it is shown as [redacted: KEY]\n'});
    expect(unchanged.isError).toBeUndefined();
  });

  test('refuses to replace a file that was not read', async () => {
    const {call, put, root} = fixture();
    put({'a.txt': 'precious'});
    const {text, isError} = await call(writeFile, {path: 'a.txt', content: 'x'});
    expect(text).toContain('exists and you have not read it');
    expect(isError).toBe(true);
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('precious');
  });

  test('refuses to replace a file that has changed since it was read, and names who changed it', async () => {
    const {call, put, root, log} = fixture();
    put({'a.txt': 'one', 'b.txt': 'one'});
    await call(createReadFile(), {path: 'a.txt'});
    await call(createReadFile(), {path: 'b.txt'});
    writeFileSync(join(root, 'a.txt'), 'by the user');
    const other = createFileLedger(log, '[code] refactor auth');
    await call(createReadFile(), {path: 'b.txt'}, {files: other});
    await call(writeFile, {path: 'b.txt', content: 'by another agent'}, {files: other});
    expect((await call(writeFile, {path: 'a.txt', content: 'x'})).text).toContain('(outside mini-cc)');
    expect((await call(writeFile, {path: 'b.txt', content: 'x'})).text).toContain('(by [code] refactor auth)');
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('by the user');
    expect(readFileSync(join(root, 'b.txt'), 'utf8')).toBe('by another agent');
  });

  test('says that the content is the same, and does not count it as a change', async () => {
    const {call, put, root} = fixture();
    put({'a.txt': 'one'});
    await call(createReadFile(), {path: 'a.txt'});
    const {mtimeMs} = statSync(join(root, 'a.txt'));
    const result = await call(writeFile, {path: 'a.txt', content: 'one'});
    expect(result).toMatchObject({text: 'a.txt is unchanged: it had this content.', facts: {changed: []}});
    expect(statSync(join(root, 'a.txt')).mtimeMs).toBe(mtimeMs);
  });

  test('writes through links, also one whose target does not exist yet', async () => {
    const {call, root, outside} = fixture();
    symlinkSync(join(outside, 'new.txt'), join(root, 'link'));
    symlinkSync('../outside', join(root, 'directory'));
    const result = await call(writeFile, {path: 'link', content: 'one'});
    expect(result.facts).toEqual({changed: [join(outside, 'new.txt')]});
    expect(readlinkSync(join(root, 'link'))).toBe(join(outside, 'new.txt'));
    expect((await call(writeFile, {path: 'link', content: 'two'})).text).toContain('Updated');
    expect(readFileSync(join(outside, 'new.txt'), 'utf8')).toBe('two');
    expect(lstatSync(join(root, 'link')).isSymbolicLink()).toBe(true);
    await call(writeFile, {path: 'directory/deep/b.txt', content: 'three'});
    expect(readFileSync(join(outside, 'deep/b.txt'), 'utf8')).toBe('three');
  });

  test('refuses links that lead in a circle', async () => {
    const {call, root} = fixture();
    symlinkSync('b', join(root, 'a'));
    symlinkSync('a', join(root, 'b'));
    expect((await call(writeFile, {path: 'a', content: 'x'})).text).toContain('too many links');
  });

  test('refuses directories, pipes and paths below a file', async () => {
    const {call, put, root} = fixture();
    put({'a.txt': 'one'});
    mkdirSync(join(root, 'src'));
    execFileSync('mkfifo', [join(root, 'pipe')]);
    expect((await call(writeFile, {path: 'src', content: ''})).text).toBe('src is a directory.');
    expect((await call(writeFile, {path: 'pipe', content: ''})).text).toBe(
      'pipe is not a regular file: it is not written.',
    );
    expect((await call(writeFile, {path: 'a.txt/b', content: ''})).isError).toBe(true);
  });

  test('writes an empty file, and text of any script', async () => {
    const {call, root} = fixture();
    expect((await call(writeFile, {path: 'empty', content: ''})).text).toBe('Created empty (0 lines).');
    await call(writeFile, {path: '日 本.txt', content: 'héllo 😀\n'});
    expect(readFileSync(join(root, '日 本.txt'), 'utf8')).toBe('héllo 😀\n');
  });

  test.each([
    ['CRLF', Buffer.from('one\r\ntwo\r\n'), Buffer.from('1\r\n2\r\n'), 'CRLF kept'],
    ['a byte order mark', Buffer.from('\ufeffone\n'), Buffer.from('\ufeff1\n2\n'), 'the byte order mark kept'],
    [
      'UTF-16',
      Buffer.from('\ufeffone\r\n', 'utf16le'),
      Buffer.from('\ufeff1\r\n2\r\n', 'utf16le'),
      'CRLF and UTF-16 kept',
    ],
    [
      'UTF-16 of the other order',
      Buffer.from('\ufeffone\n', 'utf16le').swap16(),
      Buffer.from('\ufeff1\n2\n', 'utf16le').swap16(),
      'UTF-16 kept',
    ],
    ['Latin-1', Buffer.from('caf\xe9\n', 'latin1'), Buffer.from('1\n2\n', 'latin1'), 'Latin-1 kept'],
  ])('keeps %s of the file that it replaces, and says so', async (_, before, after, kept) => {
    const {call, put, root} = fixture();
    put({'a.txt': before});
    await call(createReadFile(), {path: 'a.txt'});
    const {text} = await call(writeFile, {path: 'a.txt', content: '1\n2\n'});
    expect(text).toBe(`Updated a.txt (2 lines; ${kept}).`);
    expect(readFileSync(join(root, 'a.txt'))).toEqual(after);
    // The same content once more.
    expect((await call(writeFile, {path: 'a.txt', content: '1\n2\n'})).text).toMatch(/^a\.txt is unchanged/);
  });

  test('writes line ends as given where the content has CRLF itself, or the file had LF', async () => {
    const {call, put, root} = fixture();
    put({'crlf.txt': 'a\r\nb\r\n', 'lf.txt': 'a\nb\n'});
    for (const path of ['crlf.txt', 'lf.txt']) {
      await call(createReadFile(), {path});
      await call(writeFile, {path, content: 'x\r\ny\nz'});
      expect(readFileSync(join(root, path), 'utf8')).toBe('x\r\ny\nz');
    }
  });

  test('refuses a character that the encoding of the file lacks, and changes nothing', async () => {
    const {call, put, root} = fixture();
    const before = Buffer.from('caf\xe9\n', 'latin1');
    put({'a.txt': before});
    await call(createReadFile(), {path: 'a.txt'});
    expect((await call(writeFile, {path: 'a.txt', content: '日'})).text).toContain('Latin-1, which has no "日"');
    expect(readFileSync(join(root, 'a.txt'))).toEqual(before);
  });

  test('writes no half of a surrogate pair', async () => {
    const {call, root} = fixture();
    await call(writeFile, {path: 'a.txt', content: 'a\ud83d b'});
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('a\ufffd b');
  });

  test('writes over a file that is too large for memory, with its encoding and line ends', async () => {
    const {call, put, root} = fixture();
    put({'large.txt': 'a line\r\n'.repeat(1_500_000)});
    await call(createReadFile(), {path: 'large.txt', limit: 1});
    const {text, display} = await call(writeFile, {path: 'large.txt', content: 'one\ntwo\n'});
    expect(text).toBe('Updated large.txt (2 lines; CRLF kept).');
    expect(display).toMatchObject({patch: '(the old content is too large for a diff)'});
    expect(readFileSync(join(root, 'large.txt'), 'utf8')).toBe('one\r\ntwo\r\n');
  });

  test('refuses a file without write permission, except for root', async () => {
    const {call, put, root} = fixture();
    put({'a.txt': 'one'});
    execFileSync('chmod', ['444', join(root, 'a.txt')]);
    await call(createReadFile(), {path: 'a.txt'});
    const isRoot = process.getuid?.() === 0;
    expect((await call(writeFile, {path: 'a.txt', content: 'x'})).text).toBe(
      isRoot ? 'Updated a.txt (1 line).' : 'a.txt may not be read and written: permission denied.',
    );
    expect(statSync(join(root, 'a.txt')).mode & 0o777).toBe(0o444);
  });

  test('shows a question about a pipe at once', async () => {
    const {root, workspace} = fixture();
    execFileSync('mkfifo', [join(root, 'pipe')]);
    const [access] = writeFile.access({path: 'pipe', content: 'one'}, workspace);
    expect(await getPreview(access)).toBe('@@ -0,0 +1,1 @@\n+one\n\\ No newline at end of file');
  });

  test('refuses the second of two agents that create the same file at once', async () => {
    const {call, root, log} = fixture();
    const agents = ['a', 'b'].map((name) => createFileLedger(log, name));
    const results = await Promise.all(
      agents.map((files, index) => call(writeFile, {path: 'new.txt', content: `by ${index}`}, {files})),
    );
    expect(results.filter(({isError}) => isError)).toHaveLength(1);
    const winner = results.findIndex(({isError}) => !isError);
    expect(readFileSync(join(root, 'new.txt'), 'utf8')).toBe(`by ${winner}`);
  });

  test('shows the diff in a question, and names its path for permissions', async () => {
    const {put, root, workspace} = fixture();
    put({'a.txt': 'one\n'});
    const [access] = writeFile.access({path: 'a.txt', content: 'two\n'}, workspace);
    expect(access).toMatchObject({kind: 'write', path: join(root, 'a.txt')});
    expect(await getPreview(access)).toBe('@@ -1,1 +1,1 @@\n-one\n+two');
  });
});

async function getPreview(access: Access | undefined): Promise<string | undefined> {
  return access?.kind === 'write' ? access.preview?.(access.path) : undefined;
}
