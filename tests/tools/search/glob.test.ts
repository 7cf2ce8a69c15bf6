import {mkdirSync, utimesSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {createSandbox} from '../../../src/sandbox/index.ts';
import {createGlob} from '../../../src/tools/search/glob.ts';
import {createPathGlob} from '../../../src/tools/search/search-path.ts';
import {fixture} from '../fixture.ts';

const globTool = createGlob(createSandbox({home: '/nonexistent', miniCcHome: '/nonexistent', searchPath: ''}));

describe('a glob', () => {
  test.each([
    ['*.ts', ['a.ts', 'src/deep/b.ts'], ['a.tsx', 'a.ts/b']],
    ['**/*.ts', ['a.ts', 'src/deep/b.ts'], ['a.js']],
    ['src/**', ['src/a', 'src/deep/b.ts'], ['a', 'lib/src/a']],
    ['src/*.ts', ['src/a.ts'], ['src/deep/a.ts', 'lib/src/a.ts']],
    ['./src/*.ts', ['src/a.ts'], ['a.ts']],
    ['src/', ['src/a', 'src/b/c'], ['a']],
    ['src/**/test/*.ts', ['src/test/a.ts', 'src/a/b/test/c.ts'], ['src/a.ts']],
    ['*.{ts,tsx}', ['a.ts', 'b/c.tsx'], ['a.js']],
    ['{src,test}/**/*.{js,ts}', ['src/a.js', 'test/b/c.ts'], ['lib/a.js']],
    ['a?.ts', ['ab.ts'], ['a.ts', 'abc.ts']],
    ['[a-c]*.ts', ['b1.ts'], ['d.ts']],
    ['[!a]*.ts', ['b.ts'], ['a.ts']],
    ['*', ['a', '.hidden', 'b/c'], []],
    ['**', ['a', 'b/c'], []],
    ['[id].tsx', ['i.tsx', '[id].tsx', 'a/[id].tsx'], ['id.tsx', 'x.tsx']],
    ['app/[id]/*.tsx', ['app/[id]/page.tsx', 'app/i/page.tsx'], ['app/id/page.tsx']],
    ['[...slug]/**', ['[...slug]/a/b'], ['...slug/a']],
    ['[z-a]*', ['[z-a]b'], ['z', 'b']],
    ['**.ts', ['a.ts', 'b/c.ts'], ['a.js']],
    ['a/**/**/b', ['a/b', 'a/x/y/b'], ['ab', 'a/xb']],
    ['\\[id\\].tsx', ['[id].tsx'], ['i.tsx']],
    ['a+b(c).$x^', ['a+b(c).$x^'], ['aab(c).$x^']],
    ['a{b', ['a{b'], ['ab']],
    ['a[b', ['a[b'], ['ab']],
    ['{a,{b,c}d}.ts', ['a.ts', 'bd.ts', 'cd.ts'], ['b.ts']],
    ['package.json', ['package.json', 'a/package.json'], ['xpackage.json']],
    ['/src/*.ts', ['src/a.ts'], ['a/src/a.ts']],
  ])('%s', (pattern, yes, no) => {
    const glob = createPathGlob(pattern);
    expect(yes.filter((path) => !glob.matches(path))).toEqual([]);
    expect(no.filter((path) => glob.matches(path))).toEqual([]);
  });
});

describe('glob', () => {
  test('lists matching files, newest first, with paths relative to the cwd', async () => {
    const {call, put, root} = fixture();
    put({'src/a.ts': '', 'src/deep/b.ts': '', 'c.ts': '', 'd.js': ''});
    for (const [index, file] of ['src/a.ts', 'c.ts', 'src/deep/b.ts'].entries()) {
      utimesSync(join(root, file), 1000 + index, 1000 + index);
    }
    expect((await call(globTool, {pattern: '**/*.ts'})).text).toBe('src/deep/b.ts\nc.ts\nsrc/a.ts');
    expect((await call(globTool, {pattern: '*.ts', path: 'src'})).text).toBe('src/deep/b.ts\nsrc/a.ts');
    expect((await call(globTool, {pattern: 'deep/*', path: 'src'})).text).toBe('src/deep/b.ts');
  });

  test('accepts absolute patterns and patterns with ../', async () => {
    const {call, put, root, outside, workspace} = fixture();
    put({'src/a.ts': '', 'src/deep/a.ts': ''});
    writeFileSync(join(outside, 'x.ts'), '');
    expect((await call(globTool, {pattern: `${root}/src/*.ts`})).text).toBe('src/a.ts');
    expect((await call(globTool, {pattern: `${root}/src/a.ts`})).text).toBe('src/a.ts');
    expect((await call(globTool, {pattern: '../outside/*.ts'})).text).toBe(join(outside, 'x.ts'));
    workspace.cwd = join(root, 'src');
    expect((await call(globTool, {pattern: '../src/deep/**'})).text).toBe('deep/a.ts');
    expect(globTool.access({pattern: '../../outside/*.ts'}, workspace)).toEqual([{kind: 'read', path: outside}]);
    expect(globTool.access({pattern: '*.ts'}, workspace)).toEqual([{kind: 'read', path: join(root, 'src')}]);
  });

  test('honours .gitignore, also outside git and for every pattern, and shows hidden files', async () => {
    const {call, put} = fixture();
    put({
      '.gitignore': 'node_modules\n*.log\nsrc/made\n',
      ...{'node_modules/x/a.ts': '', 'a.log': '', 'src/made/b.ts': '', 'src/c.ts': ''},
      ...{'.hidden/d.ts': '', '.git/e.ts': '', '.github/f.yml': ''},
    });
    const names = async (pattern: string) => (await call(globTool, {pattern})).text.split('\n').sort();
    expect(await names('**')).toEqual(['.github/f.yml', '.gitignore', '.hidden/d.ts', 'src/c.ts']);
    expect(await names('src/**')).toEqual(['src/c.ts']);
    expect(await names('*.log')).toEqual(['No files found']);
    expect(await names('**/*.ts')).toEqual(['.hidden/d.ts', 'src/c.ts']);
  });

  test('answers to any pattern', async () => {
    const {call, put} = fixture();
    put({['a'.repeat(200)]: '', [`${'a'.repeat(60)}b`]: '', 'app/[id]/page.tsx': ''});
    expect((await call(globTool, {pattern: '*a*a*a*a*a*a*a*b'})).text).toBe(`${'a'.repeat(60)}b`);
    expect((await call(globTool, {pattern: '*a*a*a*a*a*a*a*a*a*a*a*c'})).text).toBe('No files found');
    expect((await call(globTool, {pattern: `${'**/'.repeat(50)}x`})).text).toBe('No files found');
    expect((await call(globTool, {pattern: '[z-a]*'})).text).toBe('No files found');
    expect((await call(globTool, {pattern: 'app/[id]/*.tsx'})).text).toBe('app/[id]/page.tsx');
  });

  test('limits the list and says how many more there are', async () => {
    const {call, put} = fixture();
    put(Object.fromEntries(Array.from({length: 120}, (_, index) => [`f${index}.ts`, ''])));
    const all = (await call(globTool, {pattern: '*'})).text.split('\n');
    expect(all).toHaveLength(101);
    expect(all.at(-1)).toBe('(20 more files: narrow the pattern, or set limit)');
    expect((await call(globTool, {pattern: '*', limit: 119})).text).toContain('(1 more file: ');
    expect((await call(globTool, {pattern: '*', limit: 500})).text.split('\n')).toHaveLength(120);
  });

  test('finds nothing in an empty directory', async () => {
    const {call} = fixture();
    const {text, isError, facts} = await call(globTool, {pattern: '**/*'});
    expect({text, isError, facts}).toEqual({text: 'No files found', isError: undefined, facts: {read: [], scanned: 0}});
  });

  test('says that the directory is missing or a file', async () => {
    const {call, put} = fixture();
    put({'src/a.ts': ''});
    expect((await call(globTool, {pattern: '*', path: 'scr'})).text).toContain('Did you mean src?');
    expect(await call(globTool, {pattern: '*', path: 'src/a.ts'})).toMatchObject({
      text: 'src/a.ts is a file, not a directory: use read_file.',
      isError: true,
    });
  });

  test('lists names with spaces, newlines and other scripts', async () => {
    const {call, put} = fixture();
    put({'a b.ts': '', 'é日.ts': '', 'new\nline.ts': ''});
    const {text} = await call(globTool, {pattern: '*.ts'});
    for (const name of ['a b.ts', 'é日.ts', 'new\nline.ts']) expect(text).toContain(name);
  });

  test('finds some of 2,000 files', async () => {
    const {call, root} = fixture();
    for (let directory = 0; directory < 20; directory += 1) {
      mkdirSync(join(root, `d${directory}`));
      for (let file = 0; file < 100; file += 1) writeFileSync(join(root, `d${directory}/f${file}.ts`), '');
    }
    const start = performance.now();
    const {text} = await call(globTool, {pattern: '**/f1*.ts'});
    const took = performance.now() - start;
    expect(text).toContain('(120 more files');
    if (process.env.MINI_CC_FIGURES) console.log(`glob of 2,000 files: ${took.toFixed(0)} ms`);
  });

  test('ends at once when aborted', async () => {
    const {call} = fixture();
    const {text, isError} = await call(globTool, {pattern: '/usr/**'}, {signal: AbortSignal.abort()});
    expect(text).toMatch(/interrupted$/);
    expect(isError).toBe(true);
  });
});
