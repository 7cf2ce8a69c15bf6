import {execFileSync} from 'node:child_process';
import {chmodSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {createReadFile} from '../../../src/tools/files/read-file.ts';
import {fixture} from '../fixture.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const numbered = (from: number, ...lines: string[]) =>
  lines.map((line, index) => `${String(from + index).padStart(6)}\t${line}`).join('\n');

describe('read_file', () => {
  test('shows lines with their numbers, and reports the file as read', async () => {
    const {call, put, root} = fixture();
    put({'a.txt': 'one\ntwo\n\nfour\n'});
    const {text, facts, isError} = await call(createReadFile(), {path: 'a.txt'});
    expect(text).toBe(numbered(1, 'one', 'two', '', 'four'));
    expect(facts).toEqual({read: [join(root, 'a.txt')]});
    expect(isError).toBeUndefined();
  });

  test('shows a part of a file, and says how to read on', async () => {
    const {call, put} = fixture();
    put({'a.txt': 'one\ntwo\nthree\nfour'});
    expect((await call(createReadFile(), {path: 'a.txt', offset: 2, limit: 2})).text).toBe(
      `${numbered(2, 'two', 'three')}\n(lines 2-3 of 4; read on with offset 4)`,
    );
    expect((await call(createReadFile(), {path: 'a.txt', offset: 3})).text).toBe(numbered(3, 'three', 'four'));
  });

  test('stops after 2,000 lines', async () => {
    const {call, put} = fixture();
    put({'a.txt': 'x\n'.repeat(2500)});
    const {text} = await call(createReadFile(), {path: 'a.txt'});
    expect(text.split('\n')).toHaveLength(2001);
    expect(text).toMatch(/\n {2}2000\tx\n\(lines 1-2000 of 2500; read on with offset 2001\)$/);
  });

  test('stops after a whole line, before the result would be cut', async () => {
    const {call, put} = fixture();
    put({'a.txt': `${'y'.repeat(1000)}\n`.repeat(500)});
    const {text} = await call(createReadFile(), {path: 'a.txt'});
    expect(text.length).toBeLessThan(createReadFile().maxChars as number);
    expect(text).toMatch(/\(lines 1-\d+ of 500; read on with offset \d+\)$/);
  });

  test('cuts long lines and says how much', async () => {
    const {call, put} = fixture();
    put({'a.txt': `${'x'.repeat(2500)}\nshort`});
    const {text} = await call(createReadFile(), {path: 'a.txt'});
    expect(text).toBe(numbered(1, `${'x'.repeat(2000)} [... 500 more characters in this line]`, 'short'));
  });

  test('reads CRLF, a byte order mark, UTF-16 and Latin-1', async () => {
    const {call, put} = fixture();
    put({
      'crlf.txt': 'one\r\ntwo\r\n',
      'mark.txt': '\ufeffone',
      'utf16le.txt': Buffer.from('\ufeffhé\n日', 'utf16le'),
      'utf16be.txt': Buffer.from('\ufeffhé', 'utf16le').swap16(),
      'latin1.txt': Buffer.from('café', 'latin1'),
    });
    expect((await call(createReadFile(), {path: 'crlf.txt'})).text).toBe(numbered(1, 'one', 'two'));
    expect((await call(createReadFile(), {path: 'mark.txt'})).text).toBe(numbered(1, 'one'));
    expect((await call(createReadFile(), {path: 'utf16le.txt'})).text).toBe(numbered(1, 'hé', '日'));
    expect((await call(createReadFile(), {path: 'utf16be.txt'})).text).toBe(numbered(1, 'hé'));
    expect((await call(createReadFile(), {path: 'latin1.txt'})).text).toBe(numbered(1, 'café'));
  });

  test('says that a file is empty, or that the offset is past its end', async () => {
    const {call, put} = fixture();
    put({'empty.txt': '', 'a.txt': 'one\ntwo\n'});
    expect((await call(createReadFile(), {path: 'empty.txt'})).text).toBe('(empty file)');
    const {text, isError} = await call(createReadFile(), {path: 'a.txt', offset: 9});
    expect({text, isError}).toEqual({text: 'a.txt has only 2 lines: offset 9 is past its end.', isError: true});
  });

  test('suggests similar paths when a file is missing', async () => {
    const {call, put, workspace, root} = fixture();
    put({'src/session.ts': '', 'src/other.md': '', 'README.md': ''});
    const missing = await call(createReadFile(), {path: 'src/sesion.ts'});
    expect(missing.text).toBe(`src/sesion.ts does not exist (cwd: ${root}). Did you mean src/session.ts?`);
    expect(missing.isError).toBe(true);
    expect((await call(createReadFile(), {path: 'src/session.js'})).text).toContain('Did you mean src/session.ts?');
    expect((await call(createReadFile(), {path: 'no/such/file'})).text).toBe(
      `no/such/file does not exist (cwd: ${root}).`,
    );
    workspace.cwd = join(root, 'src');
    expect((await call(createReadFile(), {path: 'README.md'})).text).toContain(`Did you mean ${root}/README.md?`);
  });

  test('refuses directories and binary files, and says what to do', async () => {
    const {call, put} = fixture();
    put({'src/a.ts': '', 'a.bin': Buffer.from([1, 2, 0, 3])});
    expect(await call(createReadFile(), {path: 'src'})).toMatchObject({
      text: 'src is a directory: list it with glob, or with ls in bash.',
      isError: true,
    });
    expect(await call(createReadFile(), {path: 'a.bin'})).toMatchObject({
      text: 'a.bin is a binary file (4 bytes): it cannot be shown as text.',
      isError: true,
    });
  });

  test('refuses pipes and devices instead of waiting for them', async () => {
    const {call, root} = fixture();
    execFileSync('mkfifo', [join(root, 'pipe')]);
    expect((await call(createReadFile(), {path: 'pipe'})).text).toBe('pipe is not a regular file: it is not read.');
    expect((await call(createReadFile(), {path: '/dev/zero'})).text).toBe(
      '/dev/zero is not a regular file: it is not read.',
    );
  });

  test('shows images as images, recognised by their bytes', async () => {
    const {call, put, root} = fixture();
    put({'picture.txt': PNG});
    const {content, facts} = await call(createReadFile(), {path: 'picture.txt'});
    expect(content).toEqual([
      {type: 'image', source: {type: 'base64', media_type: 'image/png', data: PNG.toString('base64')}},
    ]);
    expect(facts).toEqual({read: [join(root, 'picture.txt')]});
  });

  test.each([
    ['image/jpeg', Buffer.from('ffd8ffe000100000000000000000000000000000ffc0000b080001000101011100ffd9', 'hex')],
    ['image/gif', Buffer.from('GIF89a\x01\0\x01\0', 'latin1')],
    ['image/webp', Buffer.from(`RIFF\x16\0\0\0WEBPVP8X\x0a\0\0\0${'\0'.repeat(10)}`, 'latin1')],
  ])('knows %s', async (type, bytes) => {
    const {call, put} = fixture();
    put({picture: bytes});
    expect((await call(createReadFile(), {path: 'picture'})).content).toMatchObject([{source: {media_type: type}}]);
  });

  test('refuses an image that is too large for the model, or damaged, and says why', async () => {
    const {call, put} = fixture();
    const tall = Buffer.from(PNG);
    tall.writeUInt32BE(9_000, 20);
    put({'tall.png': tall, 'torn.png': PNG.subarray(0, 10)});
    const {text: said} = await call(createReadFile(), {path: 'tall.png'});
    expect(said).toBe(
      'tall.png is an image of 1 × 9000 pixels; at most 8000 a side can be shown. Scale it down first.',
    );
    const torn = await call(createReadFile(), {path: 'torn.png'});
    expect(torn).toMatchObject({isError: true, text: expect.stringContaining('damaged')});
    put({'big.png': Buffer.concat([PNG, Buffer.alloc(4 * 1024 * 1024)])});
    const {text, isError} = await call(createReadFile(), {path: 'big.png'});
    expect(text).toBe('big.png is an image of 4.0 MB; at most 3.75 MB can be shown. Scale it down first.');
    expect(isError).toBe(true);
  });

  test('reads a large file only in parts', async () => {
    const {call, put} = fixture();
    const line = `${'x'.repeat(99)}\r\n`;
    put({'large.txt': `\ufefffirst\r\n${line.repeat(120_000)}last é`});
    const whole = await call(createReadFile(), {path: 'large.txt'});
    expect(whole.text).toBe('large.txt is too large (11.6 MB): give offset and limit, or use grep.');
    expect(whole.isError).toBe(true);
    const start = await call(createReadFile(), {path: 'large.txt', limit: 1});
    expect(start.text).toBe(`${numbered(1, 'first')}\n(lines 1-1; read on with offset 2)`);
    const end = await call(createReadFile(), {path: 'large.txt', offset: 120_001});
    expect(end.text).toBe(`120001\t${'x'.repeat(99)}\n120002\tlast é`);
    const past = await call(createReadFile(), {path: 'large.txt', offset: 999_999});
    expect(past.text).toBe('large.txt has only 120002 lines: offset 999999 is past its end.');
  });

  test('reads a large file of one line', async () => {
    const {call, put} = fixture();
    put({'line.json': 'x'.repeat(12 * 1024 * 1024)});
    const {text} = await call(createReadFile(), {path: 'line.json', offset: 1});
    expect(text).toBe(numbered(1, `${'x'.repeat(2000)} [... 12580912 more characters in this line]`));
  });

  test('follows links, and expands the home directory', async () => {
    const {call, put, root, outside, workspace} = fixture();
    put({'a.txt': 'one'});
    symlinkSync(join(root, 'a.txt'), join(root, 'link'));
    expect((await call(createReadFile(), {path: 'link'})).facts).toEqual({read: [join(root, 'a.txt')]});
    writeFileSync(join(workspace.env.HOME as string, 'b.txt'), 'two');
    expect((await call(createReadFile(), {path: '~/b.txt'})).text).toBe(numbered(1, 'two'));
    writeFileSync(join(outside, 'c.txt'), 'three');
    expect((await call(createReadFile(), {path: '../outside/c.txt'})).text).toBe(numbered(1, 'three'));
  });

  test('says that a file may not be read', async () => {
    if (process.getuid?.() === 0) return;
    const {call, put, root} = fixture();
    put({'a.txt': 'one'});
    chmodSync(join(root, 'a.txt'), 0);
    expect((await call(createReadFile(), {path: 'a.txt'})).text).toBe('a.txt may not be read: permission denied.');
  });

  test('lets the file be written afterwards', async () => {
    const {call, put, root, context} = fixture();
    put({'a.txt': 'one'});
    const assertFresh = () => context().files.assertFresh(join(root, 'a.txt'), Buffer.from('one'));
    expect(assertFresh).toThrow('you have not read it');
    await call(createReadFile(), {path: 'a.txt', limit: 1});
    expect(assertFresh).not.toThrow();
  });

  test('names its path for permissions', () => {
    const {workspace, root} = fixture();
    mkdirSync(join(root, 'src'));
    workspace.cwd = join(root, 'src');
    expect(createReadFile().access({path: '../a.txt'}, workspace)).toEqual([{kind: 'read', path: join(root, 'a.txt')}]);
    expect(createReadFile().title({path: '../a.txt'}, workspace)).toBe('a.txt');
    expect(createReadFile().title({path: join(root, 'src/b.txt')}, workspace)).toBe('src/b.txt');
    expect(createReadFile().title({path: '/etc/hosts'}, workspace)).toBe('/etc/hosts');
  });

  test('reads system files whose size is unknown', async () => {
    const {call} = fixture();
    const {text} = await call(
      createReadFile(),
      {path: '/proc/self/status'},
      {places: [realpathSync('/proc/self/status')]},
    );
    expect(text).toContain(readFileSync('/proc/self/status', 'utf8').split('\n')[0]?.slice(0, 5));
  });

  test('finds the transcript of an archived run by its old path', async () => {
    const {call, put} = fixture();
    const folder = 's1/subagents/r1';
    put({
      [`${folder}/session.jsonl.deleted.2026-01-01`]: 'old\n',
      [`${folder}/session.jsonl.deleted.2026-02-01`]: 'new\n',
    });
    expect((await call(createReadFile(), {path: `${folder}/session.jsonl`})).text).toBe(numbered(1, 'new'));
    put({'other/session.jsonl.deleted.2026-01-01': 'x'});
    expect((await call(createReadFile(), {path: 'other/session.jsonl'})).isError).toBe(true);
  });
});
