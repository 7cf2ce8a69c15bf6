import {execFileSync} from 'node:child_process';
import {readFileSync, statSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {FileLocks} from '../../../src/tools/files/change-file.ts';
import {createEditFile} from '../../../src/tools/files/edit-file.ts';
import {createReadFile} from '../../../src/tools/files/read-file.ts';
import {fixture} from '../fixture.ts';

const editFile = createEditFile(new FileLocks());

/** A file with this content that was read, and functions to edit it and to get its bytes. */
async function createFile(content: string | Buffer) {
  const made = fixture();
  made.put({'a.txt': content});
  await made.call(createReadFile(), {path: 'a.txt'});
  const path = join(made.root, 'a.txt');
  return {
    ...made,
    path,
    edit: (input: object) => made.call(editFile, {path: 'a.txt', ...input}),
    bytes: () => readFileSync(path),
    text: () => readFileSync(path, 'utf8'),
  };
}

describe('edit_file', () => {
  test('does not put a mark where a key was', async () => {
    const {call, put, root} = fixture();
    put({'.env': 'KEY=sk-real-value\nA=1\n'});
    await call(createReadFile(), {path: '.env'});
    const edit = {path: '.env', old_string: 'A=1', new_string: 'COPY=[redacted: KEY]'};
    expect((await call(editFile, edit)).text).toContain('[redacted: KEY] stands for a value that mini-cc hides');
    expect(readFileSync(join(root, '.env'), 'utf8')).toBe('KEY=sk-real-value\nA=1\n');
  });

  test('replaces a string that occurs once, and returns the diff', async () => {
    const {edit, text, path} = await createFile('one\ntwo\nthree\n');
    const result = await edit({old_string: 'two', new_string: '2 $& $1'});
    expect(text()).toBe('one\n2 $& $1\nthree\n');
    expect(result.text).toBe('Edited a.txt (1 replacement).\n@@ -1,3 +1,3 @@\n one\n-two\n+2 $& $1\n three');
    expect(result.display).toEqual({type: 'diff', path, patch: '@@ -1,3 +1,3 @@\n one\n-two\n+2 $& $1\n three'});
    expect(result.facts).toEqual({changed: [path]});
    expect(result.isError).toBeUndefined();
  });

  test('says how often and where a string occurs that is not unique', async () => {
    const {edit, text} = await createFile('a\nb\na\nb\na\n');
    const result = await edit({old_string: 'a', new_string: 'c'});
    expect(result.isError).toBe(true);
    expect(result.text).toBe(
      'a.txt: old_string is there 3 times (lines 1, 3, 5): add lines around it, or set replace_all. Nothing was changed.',
    );
    expect(text()).toBe('a\nb\na\nb\na\n');
  });

  test('replaces all when asked to', async () => {
    const {edit, text} = await createFile('a b a b a\n');
    const result = await edit({old_string: 'a', new_string: 'aa', replace_all: true});
    expect(text()).toBe('aa b aa b aa\n');
    expect(result.text).toContain('(3 replacements)');
  });

  test('applies several edits in order', async () => {
    const {edit, text} = await createFile('one\ntwo\n');
    await edit({
      edits: [
        {old_string: 'one', new_string: 'first'},
        {old_string: 'first\ntwo', new_string: 'both'},
      ],
    });
    expect(text()).toBe('both\n');
  });

  test('applies none of several edits when one does not match', async () => {
    const {edit, text} = await createFile('one\ntwo\n');
    const result = await edit({
      edits: [
        {old_string: 'one', new_string: '1'},
        {old_string: 'three', new_string: '3'},
      ],
    });
    expect(result.isError).toBe(true);
    expect(result.text).toMatch(/^a\.txt: edits\[1\]: old_string was not found.*Nothing was changed\.$/s);
    expect(text()).toBe('one\ntwo\n');
  });

  test('keeps CRLF, and accepts LF in its input', async () => {
    const {edit, text} = await createFile('one\r\ntwo\r\nthree\r\n');
    const result = await edit({old_string: 'one\ntwo', new_string: '1\n2\n2.5'});
    expect(text()).toBe('1\r\n2\r\n2.5\r\nthree\r\n');
    expect(result.text).not.toContain('\r');
    await edit({old_string: '2.5\n', new_string: ''});
    expect(text()).toBe('1\r\n2\r\nthree\r\n');
    await edit({old_string: '\r\nthree', new_string: '\r\n3'});
    expect(text()).toBe('1\r\n2\r\n3\r\n');
  });

  test('leaves the line ends of mixed files alone where it changes nothing', async () => {
    const {edit, text} = await createFile('a\r\nb\nc\r\nd\n\r\ne\r\n');
    await edit({old_string: 'c', new_string: 'C'});
    expect(text()).toBe('a\r\nb\nC\r\nd\n\r\ne\r\n');
    await edit({old_string: 'C\nd\n\ne', new_string: 'X'});
    expect(text()).toBe('a\r\nb\nX\r\n');
  });

  test('inserts the line ends of the file: none of CRLF into LF, none of LF into CRLF', async () => {
    const {edit, text} = await createFile('one\ntwo\nthree\n');
    await edit({old_string: 'two', new_string: 'a\r\nb'});
    expect(text()).toBe('one\na\nb\nthree\n');
  });

  test('inserts into a mixed file the line ends of the place, and leaves lines that an edit only names', async () => {
    const {edit, text} = await createFile('a\nb\nc\nd\r\ne\r\nf\n');
    await edit({old_string: 'c\nd\ne', new_string: 'c\nd\nnew\ne'});
    expect(text()).toBe('a\nb\nc\nd\r\nnew\r\ne\r\nf\n'.replace('new\r\n', 'new\n'));
    await edit({old_string: 'd\nnew', new_string: 'D\nNEW'});
    expect(text()).toBe('a\nb\nc\nD\r\nNEW\ne\r\nf\n');
  });

  test('tears no character apart, and keeps a single byte at the end of UTF-16', async () => {
    const {edit, bytes} = await createFile(Buffer.concat([Buffer.from('\ufeffa😀b', 'utf16le'), Buffer.from([0x41])]));
    expect((await edit({old_string: '\ud83d', new_string: 'x'})).isError).toBe(true);
    await edit({old_string: 'b', new_string: '\ud83dc'});
    expect(bytes()).toEqual(Buffer.concat([Buffer.from('\ufeffa😀\ufffdc', 'utf16le'), Buffer.from([0x41])]));
  });

  test('keeps a byte order mark before bytes that are not UTF-8', async () => {
    const before = Buffer.concat([Buffer.from('\ufeff'), Buffer.from('caf\xe9 x', 'latin1')]);
    const {edit, bytes} = await createFile(before);
    await edit({old_string: 'x', new_string: 'y'});
    expect(bytes()).toEqual(Buffer.concat([before.subarray(0, -1), Buffer.from('y')]));
  });

  test('keeps a byte order mark, UTF-16, Latin-1 and the mode', async () => {
    const mark = await createFile('\ufeffone');
    await mark.edit({old_string: 'one', new_string: 'é'});
    expect(mark.text()).toBe('\ufeffé');
    const utf16 = await createFile(Buffer.from('\ufeffone\r\n', 'utf16le'));
    await utf16.edit({old_string: 'one', new_string: '日'});
    expect(utf16.bytes()).toEqual(Buffer.from('\ufeff日\r\n', 'utf16le'));
    const latin1 = await createFile(Buffer.from('café x', 'latin1'));
    expect((await latin1.edit({old_string: 'x', new_string: '日'})).text).toContain('read as Latin-1');
    await latin1.edit({old_string: 'x', new_string: 'ü'});
    expect(latin1.bytes()).toEqual(Buffer.from('café ü', 'latin1'));
    execFileSync('chmod', ['640', latin1.path]);
    await latin1.edit({old_string: 'ü', new_string: 'u'});
    expect(statSync(latin1.path).mode & 0o777).toBe(0o640);
  });

  test('follows links', async () => {
    const {root, path, text, call} = await createFile('one');
    symlinkSync(path, join(root, 'link'));
    const {facts} = await call(editFile, {path: 'link', old_string: 'one', new_string: 'two'});
    expect(facts).toEqual({changed: [path]});
    expect(text()).toBe('two');
  });

  test('refuses a file that was not read, or that has changed since', async () => {
    const {call, put, edit, path, text} = await createFile('one');
    put({'b.txt': 'one'});
    expect((await call(editFile, {path: 'b.txt', old_string: 'one', new_string: 'x'})).text).toContain('not read it');
    writeFileSync(path, 'one, changed');
    expect((await edit({old_string: 'one', new_string: 'x'})).text).toContain('changed since you read it');
    expect(text()).toBe('one, changed');
  });

  test('applies all of several simultaneous edits of one file', async () => {
    const {edit, text} = await createFile('one\ntwo\nthree\n');
    const results = await Promise.all([
      edit({old_string: 'one', new_string: '1'}),
      edit({old_string: 'two', new_string: '2'}),
      edit({old_string: 'three', new_string: '3'}),
    ]);
    expect(results.map(({isError}) => isError)).toEqual([undefined, undefined, undefined]);
    expect(text()).toBe('1\n2\n3\n');
  });

  test('refuses edits that change nothing', async () => {
    const {edit} = await createFile('one\r\ntwo');
    expect((await edit({old_string: 'one', new_string: 'one'})).text).toContain('are the same');
    expect((await edit({old_string: '\r\n', new_string: '\n'})).text).toContain('line ends do not count');
    expect((await edit({old_string: '', new_string: 'x'})).text).toContain('old_string is empty');
    expect((await edit({old_string: 'one'})).text).toBe('Give old_string and new_string, or edits.');
    expect((await edit({})).isError).toBe(true);
    const both = {old_string: 'a', new_string: 'b', edits: [{old_string: 'a', new_string: 'b'}]};
    expect((await edit(both)).text).toContain('not both');
  });

  test('suggests similar paths and write_file when the file is missing', async () => {
    const {call, root} = await createFile('one');
    const {text, isError} = await call(editFile, {path: 'b.txt', old_string: 'a', new_string: 'b'});
    expect(text).toBe(`b.txt does not exist (cwd: ${root}). Did you mean a.txt? To create a file, use write_file.`);
    expect(isError).toBe(true);
  });

  test('refuses a binary file', async () => {
    const {call, put, context, root} = fixture();
    put({'a.bin': Buffer.from([65, 0, 66])});
    context().files.recordRead(join(root, 'a.bin'), Buffer.from([65, 0, 66]));
    const {text} = await call(editFile, {path: 'a.bin', old_string: 'A', new_string: 'B'});
    expect(text).toBe('a.bin is a binary file: it is not edited.');
  });

  test('limits the diff that the model reads', async () => {
    const {edit} = await createFile('x y\n'.repeat(5000));
    const result = await edit({old_string: 'x', new_string: 'z', replace_all: true});
    expect(result.text.length).toBeLessThan(8200);
    expect(result.text).toMatch(/\(\d+ more lines of the diff\)$/);
  });

  test('shows the diff in a question, or the wanted edit when it does not match', async () => {
    const {put, workspace} = fixture();
    put({'a.txt': 'one\n'});
    const preview = (old_string: string) => {
      const [access] = editFile.access({path: 'a.txt', old_string, new_string: 'two'}, workspace);
      return access?.kind === 'write' ? access.preview?.(access.path) : undefined;
    };
    expect(await preview('one')).toBe('@@ -1,1 +1,1 @@\n-one\n+two');
    expect(await preview('other')).toContain('-other\n');
  });
});

describe('a string that is not found', () => {
  const problem = async (content: string, old_string: string) => {
    const {edit} = await createFile(content);
    const {text, isError} = await edit({old_string, new_string: 'x'});
    expect(isError).toBe(true);
    return text;
  };

  test('but differs only in white space is shown as the file has it', async () => {
    const text = await problem('class A {\n\tfoo() {\n\t\treturn 1;\n\t}\n}\n', '  foo() {\n    return 1;\n  }');
    expect(text).toContain('only white space differs at line 2, where the file has:\n\tfoo() {\n\t\treturn 1;\n\t}\n');
  });

  test('gets advice to leave out the line numbers when it has them', async () => {
    expect(await problem('one\ntwo\n', '     1\tone\n     2\ttwo')).toContain('leave out the line numbers');
  });

  test('gets the first line that differs when its beginning matches', async () => {
    const text = await problem('a();\nb();\nc();\n', 'a();\nb();\nd();');
    expect(text).toContain(
      'its first 2 lines are at line 1, but at line 3 the file has:\nc();\nwhere old_string has:\nd();',
    );
  });

  test('gets no suggestion when nothing is close, or the file is empty', async () => {
    expect(await problem('one\n', 'completely different')).toContain('old_string was not found. Nothing was changed.');
    expect(await problem('\n', 'a')).toContain('The file is empty: use write_file.');
  });
});
