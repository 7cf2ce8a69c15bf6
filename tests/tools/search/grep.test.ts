import {execFileSync} from 'node:child_process';
import {mkdirSync, utimesSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {createSandbox} from '../../../src/sandbox/index.ts';
import {createGlob} from '../../../src/tools/search/glob.ts';
import {createGrep} from '../../../src/tools/search/grep.ts';
import {fixture} from '../fixture.ts';

const none = createSandbox({home: '/nonexistent', miniCcHome: '/nonexistent', searchPath: ''});
const [grepTool, globTool] = [createGrep(none), createGlob(none)];

describe('grep', () => {
  test('names the files that match, newest first', async () => {
    const {call, put, root} = fixture();
    put({'a.ts': 'needle', 'src/b.ts': 'a needle', 'c.ts': 'hay', 'd.ts': 'needle'});
    for (const [index, file] of ['d.ts', 'src/b.ts', 'a.ts'].entries()) {
      utimesSync(join(root, file), 1000 + index, 1000 + index);
    }
    const {text, facts, isError} = await call(grepTool, {pattern: 'needle'});
    expect({text, facts, isError}).toEqual({
      text: 'a.ts\nsrc/b.ts\nd.ts',
      facts: {read: [], scanned: 3},
      isError: undefined,
    });
  });

  test('finds the transcript of an archived run by its old path', async () => {
    const {call, put} = fixture();
    put({'s1/subagents/r1/session.jsonl.deleted.2026-01-01': 'needle\n'});
    const {text} = await call(grepTool, {pattern: 'needle', path: 's1/subagents/r1/session.jsonl', mode: 'content'});
    expect(text).toContain('needle');
  });

  test('shows lines with their numbers, sorted by path', async () => {
    const {call, put} = fixture();
    put({'b.ts': 'x\nneedle 1\r\n', 'a.ts': 'needle 2\ny\nneedle: 3', 'c.ts': 'hay'});
    const content = await call(grepTool, {pattern: 'needle', mode: 'content'});
    expect(content.text).toBe('a.ts:1:needle 2\na.ts:3:needle: 3\nb.ts:2:needle 1');
    const bare = await call(grepTool, {pattern: 'needle', mode: 'content', '-n': false});
    expect(bare.text).toBe('a.ts:needle 2\na.ts:needle: 3\nb.ts:needle 1');
  });

  test('shows context lines, with a separator between lines that do not follow one another', async () => {
    const {call, put} = fixture();
    put({'a.ts': '1\n2\nneedle\n4\n5\n6\n7\nneedle\n9', 'b.ts': 'needle\n2'});
    const text = async (more: object) => (await call(grepTool, {pattern: 'needle', mode: 'content', ...more})).text;
    expect(await text({'-C': 1})).toBe(
      ['a.ts-2-2', 'a.ts:3:needle', 'a.ts-4-4', '--', 'a.ts-7-7', 'a.ts:8:needle', 'a.ts-9-9', '--']
        .concat('b.ts:1:needle', 'b.ts-2-2')
        .join('\n'),
    );
    expect(await text({'-A': 1, path: 'b.ts'})).toBe('b.ts:1:needle\nb.ts-2-2');
    expect(await text({'-B': 2, path: 'a.ts', limit: 3})).toBe(
      'a.ts-1-1\na.ts-2-2\na.ts:3:needle\n(3 more lines: narrow the pattern, or set limit)',
    );
  });

  test('counts the lines of each file', async () => {
    const {call, put} = fixture();
    put({'b.ts': 'needle', 'a.ts': 'needle\nneedle needle', 'c.ts': 'hay'});
    expect((await call(grepTool, {pattern: 'needle', mode: 'count'})).text).toBe(
      'a.ts:2\nb.ts:1\n(3 lines in 2 files)',
    );
    expect((await call(grepTool, {pattern: 'needle', mode: 'count', path: 'b.ts'})).text).toBe('b.ts:1');
  });

  test('says that nothing matches, which is not an error', async () => {
    const {call, put} = fixture();
    put({'a.ts': 'hay'});
    for (const mode of ['files', 'content', 'count']) {
      const {text, isError} = await call(grepTool, {pattern: 'needle', mode});
      expect({text, isError}).toEqual({text: 'No matches', isError: undefined});
    }
  });

  test('limits the result and says how many more there are', async () => {
    const {call, put} = fixture();
    put(Object.fromEntries(Array.from({length: 300}, (_, index) => [`f${index}`, 'needle\nneedle'])));
    const files = (await call(grepTool, {pattern: 'needle'})).text.split('\n');
    expect(files).toHaveLength(251);
    expect(files.at(-1)).toBe('(50 more files: narrow the pattern, or set limit)');
    const lines = (await call(grepTool, {pattern: 'needle', mode: 'content', limit: 10})).text.split('\n');
    expect(lines).toHaveLength(11);
    expect(lines.at(-1)).toBe('(590 more lines: narrow the pattern, or set limit)');
  });

  test('sorts more than 1,000 files by path', async () => {
    const {call, put} = fixture();
    put(Object.fromEntries(Array.from({length: 1001}, (_, index) => [`f${String(index).padStart(4, '0')}`, 'needle'])));
    const {text} = await call(grepTool, {pattern: 'needle', limit: 3});
    expect(text).toBe('f0000\nf0001\nf0002\n(998 more files: narrow the pattern, or set limit)');
  });

  test('ignores case when asked to', async () => {
    const {call, put} = fixture();
    put({'a.ts': 'NEEDLE'});
    expect((await call(grepTool, {pattern: 'needle'})).text).toBe('No matches');
    expect((await call(grepTool, {pattern: 'needle', '-i': true})).text).toBe('a.ts');
  });

  test.each([
    [{glob: '*.ts'}, ['a.ts', 'src/b.ts']],
    [{glob: '*.{ts,md}'}, ['a.ts', 'c.md', 'src/b.ts']],
    [{glob: 'src/**'}, ['src/b.ts', 'src/e.js']],
    [{glob: '**/*.js'}, ['src/e.js']],
    [{glob: '!*.ts'}, ['c.md', 'src/e.js']],
    [{type: 'ts'}, ['a.ts', 'src/b.ts']],
    [{type: 'ts', glob: 'src/*'}, ['src/b.ts']],
    [{type: 'ts', glob: '!src/**'}, ['a.ts']],
    [{path: 'src', glob: '*.js'}, ['src/e.js']],
    [{path: 'src', glob: 'src/*.js'}, ['src/e.js']],
    [{path: 'src/e.js'}, ['src/e.js']],
    [{glob: '*.log'}, ['No matches']],
    [{glob: '**'}, ['a.ts', 'c.md', 'src/b.ts', 'src/e.js']],
  ])('looks only where %j says', async (where, expected) => {
    const {call, put} = fixture();
    put({'a.ts': 'x', 'src/b.ts': 'x', 'c.md': 'x', 'src/e.js': 'x', 'd.log': 'x', 'lib/f.py': 'x'});
    put({'.gitignore': '*.log\nlib\n'});
    for (const mode of ['files', 'count']) {
      const {text} = await call(grepTool, {pattern: '^x$', mode, ...where});
      const names = text.split('\n').map((line) => line.replace(/:1$/, ''));
      expect(names.filter((line) => !line.startsWith('(')).sort()).toEqual(expected);
    }
  });

  test('honours .gitignore outside git, and searches hidden files but not .git', async () => {
    const {call, put} = fixture();
    put({'.gitignore': 'out\n', 'out/a': 'needle', '.env.example': 'needle', '.git/config': 'needle', b: 'needle'});
    expect((await call(grepTool, {pattern: 'needle'})).text.split('\n').sort()).toEqual(['.env.example', 'b']);
  });

  test('accepts patterns that begin with a dash or contain quotes', async () => {
    const {call, put} = fixture();
    put({'a.ts': `--flag "it's"`});
    expect((await call(grepTool, {pattern: '--flag'})).text).toBe('a.ts');
    expect((await call(grepTool, {pattern: `"it's"`})).text).toBe('a.ts');
  });

  test.each([
    ['foo(', /^Invalid pattern "foo\(": unclosed group\.\nTo search for literal text/],
    ['a\nb', /^Invalid pattern "a\\nb": the literal "\\n" is not allowed/],
    ['(?<x', /^Invalid pattern/],
  ])('says in two lines what is wrong with %j', async (pattern, words) => {
    const {call, put} = fixture();
    put({'a.ts': 'x'});
    const {text, isError} = await call(grepTool, {pattern});
    expect(text).toMatch(words);
    expect(text.split('\n').length).toBeLessThanOrEqual(2);
    expect(isError).toBe(true);
  });

  test('finds ends of lines in CRLF files, and \\r where the pattern asks for it', async () => {
    const {call, put} = fixture();
    put({'crlf.txt': 'start\r\nthe end\r\n', 'lf.txt': 'the end\nx\n'});
    expect((await call(grepTool, {pattern: 'end$', mode: 'content'})).text).toBe(
      'crlf.txt:2:the end\nlf.txt:1:the end',
    );
    expect((await call(grepTool, {pattern: 'end$', mode: 'count'})).text).toBe(
      'crlf.txt:1\nlf.txt:1\n(2 lines in 2 files)',
    );
    expect((await call(grepTool, {pattern: '^the end$'})).text.split('\n').sort()).toEqual(['crlf.txt', 'lf.txt']);
    expect((await call(grepTool, {pattern: 'end\\r$'})).text).toBe('crlf.txt');
  });

  test('names binary files that match, and does not show their lines', async () => {
    const {call, put} = fixture();
    const binary = Buffer.concat([Buffer.alloc(300, 1), Buffer.from('\0\0found\n')]);
    put({'a.bin': binary, 'b.txt': 'found\n'});
    const search = async (mode: string) => (await call(grepTool, {pattern: 'found', mode})).text;
    expect(await search('content')).toBe('b.txt:1:found\n(a binary file matches, not shown: a.bin)');
    expect(await search('count')).toBe('a.bin:1\nb.txt:1\n(2 lines in 2 files)');
    expect((await search('files')).split('\n').sort()).toEqual(['a.bin', 'b.txt']);
    expect((await call(grepTool, {pattern: 'found', glob: '*.bin', mode: 'content'})).text).toBe(
      'No matches\n(a binary file matches, not shown: a.bin)',
    );
  });

  test.each(['[id]/*.tsx', '**/[id]/*.tsx', 'app/[id]/*.tsx'])(
    'finds folders with brackets in their names by %s',
    async (glob) => {
      const {call, put} = fixture();
      put({'app/[id]/page.tsx': 'found', 'app/x/page.tsx': 'found', '[id]/page.tsx': 'found'});
      const {text} = await call(grepTool, {pattern: 'found', glob});
      expect(text.split('\n')).toContain(glob.startsWith('[') ? '[id]/page.tsx' : 'app/[id]/page.tsx');
      expect(text).not.toContain('app/x');
      expect((await call(grepTool, {pattern: 'found', glob: `!${glob}`})).text).toContain('app/x/page.tsx');
    },
  );

  test('refuses a pipe, a device and a socket, and does not wait for a pipe in a folder', async () => {
    const {call, put, root} = fixture();
    put({'a.txt': 'found'});
    execFileSync('mkfifo', [join(root, 'pipe')]);
    for (const path of ['pipe', '/dev/zero', '/dev/tty']) {
      const {text, isError} = await call(grepTool, {pattern: 'x', path});
      expect(text).toBe(`${path} is neither a regular file nor a directory: it is not searched.`);
      expect(isError).toBe(true);
      expect((await call(globTool, {pattern: '*', path})).isError).toBe(true);
    }
    expect((await call(grepTool, {pattern: 'found'})).text).toBe('a.txt');
  });

  test('takes any glob, and says when none can match', async () => {
    const {call, put} = fixture();
    put({[`${'a'.repeat(200)}.ts`]: 'found'});
    for (const glob of ['*a*a*a*a*a*a*a*b', '[z-a]*', '{a,b', '**/**/**/**/x']) {
      expect((await call(grepTool, {pattern: 'found', glob})).text, glob).toBe('No matches');
    }
  });

  test('says when type or path is unknown', async () => {
    const {call, put} = fixture();
    put({'src/a.ts': 'x'});
    expect((await call(grepTool, {pattern: 'x', type: 'typescriptx'})).text).toContain('Unknown type "typescriptx"');
    const missing = await call(grepTool, {pattern: 'x', path: 'scr'});
    expect(missing.text).toContain('Did you mean src?');
    expect(missing.isError).toBe(true);
  });

  test('cuts long lines', async () => {
    const {call, put} = fixture();
    put({'a.ts': `needle ${'x'.repeat(5000)}`});
    const {text} = await call(grepTool, {pattern: 'needle', mode: 'content'});
    expect(text.length).toBeLessThan(700);
    expect(text).toMatch(/^a\.ts:1:needle x+ \[\.\.\. /);
  });

  test('shows paths relative to the cwd, and absolute paths outside it', async () => {
    const {call, put, root, outside, workspace} = fixture();
    put({'src/deep/a.ts': 'needle', 'b.ts': 'needle'});
    writeFileSync(join(outside, 'c.ts'), 'needle');
    workspace.cwd = join(root, 'src');
    expect((await call(grepTool, {pattern: 'needle'})).text).toBe('deep/a.ts');
    expect((await call(grepTool, {pattern: 'needle', path: join(root, 'src/deep')})).text).toBe('deep/a.ts');
    expect((await call(grepTool, {pattern: 'needle', path: '../../outside', mode: 'content'})).text).toBe(
      `${outside}/c.ts:1:needle`,
    );
    expect((await call(grepTool, {pattern: 'needle', path: outside, glob: '*.ts'})).text).toBe(`${outside}/c.ts`);
  });

  test("ignores the user's ripgrep configuration", async () => {
    const {call, put, root, workspace} = fixture();
    put({'a.ts': 'NEEDLE', ripgreprc: '--ignore-case\n'});
    const env = {...workspace.env, RIPGREP_CONFIG_PATH: join(root, 'ripgreprc')};
    const {text} = await call(grepTool, {pattern: 'needle'}, {workspace: {...workspace, env}});
    expect(text).toBe('No matches');
  });

  test('ends at once when aborted', async () => {
    const {call} = fixture();
    const {text, isError} = await call(grepTool, {pattern: 'x', path: '/usr'}, {signal: AbortSignal.abort()});
    expect(text).toMatch(/interrupted$/);
    expect(isError).toBe(true);
  });

  test('has a title, and names its path for permissions', () => {
    const {workspace, root} = fixture();
    expect(grepTool.title({pattern: 'a b', path: root}, workspace)).toBe('"a b"');
    expect(grepTool.title({pattern: 'a b', path: 'src'}, workspace)).toBe('"a b" in src');
    expect(grepTool.access({pattern: 'a'}, workspace)).toEqual([{kind: 'read', path: root}]);
    expect(grepTool.access({pattern: 'a', path: 'src'}, workspace)).toEqual([{kind: 'read', path: join(root, 'src')}]);
  });

  test('counts up to a limit in 2,000 files', async () => {
    const {call, root} = fixture();
    for (let directory = 0; directory < 20; directory += 1) {
      mkdirSync(join(root, `d${directory}`));
      for (let file = 0; file < 100; file += 1) {
        writeFileSync(join(root, `d${directory}/f${file}.ts`), `${'const a = 1;\n'.repeat(300)}needle${file % 10}\n`);
      }
    }
    const timed = async (input: object) => {
      const start = performance.now();
      const {text} = await call(grepTool, input);
      const took = performance.now() - start;
      if (process.env.MINI_CC_FIGURES)
        console.log(`grep of 2,000 files ${JSON.stringify(input)}: ${took.toFixed(0)} ms`);
      return text;
    };
    expect(await timed({pattern: 'needle5', limit: 199})).toContain('(1 more file');
    expect(await timed({pattern: 'needle5', mode: 'content', limit: 199})).toContain('(1 more line');
    expect(await timed({pattern: 'const', mode: 'content'})).toMatch(/at least \d+ more lines/);
  });
});
