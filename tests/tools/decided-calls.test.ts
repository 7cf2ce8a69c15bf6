/** The decision about a call holds until the call has run. */
import {existsSync, readFileSync, renameSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, test} from 'vitest';
import {FileLocks} from '../../src/tools/files/change-file.ts';
import {createEditFile} from '../../src/tools/files/edit-file.ts';
import {readFileTool} from '../../src/tools/files/read-file.ts';
import {createWriteFile} from '../../src/tools/files/write-file.ts';
import {globTool} from '../../src/tools/search/glob.ts';
import {grepTool} from '../../src/tools/search/grep.ts';
import {type Fixture, fixture} from './fixture.ts';

describe('a file that was permitted', () => {
  /** A folder that was in the workspace when the call was decided, and is a link to elsewhere when the call runs. */
  function swapBytes({root, outside, put}: Fixture) {
    put({'src/a.ts': 'one\n'});
    writeFileSync(path.join(outside, 'a.ts'), 'one\n');
    const permitted = {places: [path.join(root, 'src/a.ts')]};
    renameSync(path.join(root, 'src'), path.join(root, 'old'));
    symlinkSync(outside, path.join(root, 'src'));
    return permitted;
  }

  test('is the one that is written: a link that was changed meanwhile is not followed', async () => {
    const at = fixture();
    const permitted = swapBytes(at);
    const write = createWriteFile(new FileLocks());
    const {text, isError} = await at.call(write, {path: 'src/b.ts', content: 'two\n'}, permitted);
    expect(text).toMatch(/^The path now leads to .*outside\/b\.ts, which was not permitted\./);
    expect(isError).toBe(true);
    expect(existsSync(path.join(at.outside, 'b.ts'))).toBe(false);
    const edit = createEditFile(new FileLocks());
    const edited = await at.call(edit, {path: 'src/a.ts', old_string: 'one', new_string: 'two'}, permitted);
    expect(edited.text).toContain('was not permitted');
    expect(readFileSync(path.join(at.outside, 'a.ts'), 'utf8')).toBe('one\n');
  });

  test('is the one that is read', async () => {
    const at = fixture();
    expect((await at.call(readFileTool, {path: 'src/a.ts'}, swapBytes(at))).text).toContain('was not permitted');
  });

  test('is written as usual when its path has not changed', async () => {
    const at = fixture();
    const places = [path.join(at.root, 'src/new/b.ts')];
    const write = createWriteFile(new FileLocks());
    await at.call(write, {path: 'src/new/b.ts', content: 'two\n'}, {places});
    expect(readFileSync(places[0]!, 'utf8')).toBe('two\n');
  });
});

test('a search leaves out files that may not be read, by content and by name', async () => {
  const {call, put, root} = fixture();
  put({'a.ts': 'word\n', '.env': 'word\n', 'sub/.env': 'word\n'});
  const mayRead = (file: string) => path.basename(file) !== '.env';
  const given = {places: [root], mayRead};
  for (const mode of ['files', 'content', 'count']) {
    const {text} = await call(grepTool, {pattern: 'word', mode}, given);
    expect(text, mode).toContain('a.ts');
    expect(text, mode).not.toContain('.env');
  }
  expect((await call(globTool, {pattern: '**/*'}, given)).text).toBe('a.ts');
  expect((await call(grepTool, {pattern: 'word', path: '.env'}, given)).text).toBe('No matches');
});
