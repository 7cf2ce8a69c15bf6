/** Which files a prompt means. */
import {expect, test} from 'vitest';
import {detectFanOut} from '../../../src/core/fan-out/detection.ts';
import {createFileTest, findMeantFiles} from '../../../src/core/fan-out/meant-files.ts';

const SRC = ['src/a.ts', 'src/b.tsx', 'src/c.js', 'src/tools/d.ts', 'src/tools/e.ts', 'src/tools/f.py'];
const TRACKED = [
  ...['README.md', 'data.json', 'docs/one.md', 'docs/two.md', 'lib/g.go', 'package-lock.json', 'package.json'],
  ...[...SRC, 'src/tools/notes.txt', 'tests/a.test.ts', 'vendor/x.js', 'web/app.min.js', 'yarn.lock'],
];
const ALL = [...TRACKED, 'src/new.ts', 'logo.png'].sort();
const SOURCES = ['lib/g.go', ...SRC, 'tests/a.test.ts'];
const meant = (prompt: string) => findMeantFiles(prompt, {tracked: TRACKED, all: ALL}, detectFanOut(prompt));

const CASES: Readonly<Record<string, readonly string[]>> = {
  'Refactor all files': SOURCES,
  'Add JSDoc comments to all functions in the codebase': SOURCES,
  'Refactor all files in src/tools/ to use async/await': ['src/tools/d.ts', 'src/tools/e.ts', 'src/tools/f.py'],
  'Refactor all files in src/tools': ['src/tools/d.ts', 'src/tools/e.ts', 'src/tools/f.py'],
  'Refactor all files in @src/tools': ['src/tools/d.ts', 'src/tools/e.ts', 'src/tools/f.py'],
  'Refactor all files in src': ['src/a.ts', 'src/b.tsx', 'src/c.js', 'src/new.ts', ...SRC.slice(3)],
  'Refactor all files in the lib folder': ['lib/g.go'],
  'Refactor all files of lib and tests': ['lib/g.go', 'tests/a.test.ts'],
  'Translate all files in docs/': ['docs/one.md', 'docs/two.md'],
  'Update all *.md files': ['README.md', 'docs/one.md', 'docs/two.md'],
  'Update all `*.{md,txt}` files': ['README.md', 'docs/one.md', 'docs/two.md', 'src/tools/notes.txt'],
  'Update all .md files': ['README.md', 'docs/one.md', 'docs/two.md'],
  'Format all *.ts in src/tools': ['src/tools/d.ts', 'src/tools/e.ts'],
  'Rename foo to bar in src/**/*.ts': ['src/a.ts', 'src/new.ts', 'src/tools/d.ts', 'src/tools/e.ts'],
  'Rename foo to bar in src/*.{ts,tsx}': ['src/a.ts', 'src/b.tsx', 'src/new.ts'],
  'Fix all TypeScript files': [
    'src/a.ts',
    'src/b.tsx',
    'src/new.ts',
    'src/tools/d.ts',
    'src/tools/e.ts',
    'tests/a.test.ts',
  ],
  'Fix all TypeScript files in src/tools/': ['src/tools/d.ts', 'src/tools/e.ts'],
  'Convert all JavaScript files to TypeScript': ['src/c.js'],
  'Fix all test files': ['tests/a.test.ts'],
  'Fix all Python functions': ['src/tools/f.py'],
  'Fix all JSON files': ['data.json', 'package.json'],
  'Améliorer tous les fichiers TypeScript de src/tools': ['src/tools/d.ts', 'src/tools/e.ts'],
  'Исправь все файлы TypeScript в src/tools': ['src/tools/d.ts', 'src/tools/e.ts'],
  'Исправь все файлы в папке lib': ['lib/g.go'],
  '更新 src/tools/ 下的所有 TypeScript 文件': ['src/tools/d.ts', 'src/tools/e.ts'],
  '重构src/tools/下的所有文件': ['src/tools/d.ts', 'src/tools/e.ts', 'src/tools/f.py'],
  '重构 lib 目录下的所有文件': ['lib/g.go'],
  'Refactor all files in src/tools except src/tools/f.py': ['src/tools/d.ts', 'src/tools/e.ts'],
  'Refactor all files except *.py and src/a.ts.': [
    'lib/g.go',
    'src/b.tsx',
    'src/c.js',
    'src/tools/d.ts',
    'src/tools/e.ts',
    'tests/a.test.ts',
  ],
  'Refactor all files, but not those in tests': SOURCES.filter((file) => !file.startsWith('tests/')),
  'Rename foo in src/a.ts to bar in all files': SOURCES,
  'Add JSDoc to all functions in src/a.ts': ['src/a.ts'],
  'Fix all files: @src/a.ts, @src/c.js and src/tools/d.ts.': ['src/a.ts', 'src/c.js', 'src/tools/d.ts'],
  'Fix all Python files and JavaScript files in src': ['src/c.js', 'src/tools/f.py'],
  'Rename foo to bar in src/*.js and docs/*.md': ['docs/one.md', 'docs/two.md', 'src/c.js'],
  'Rename foo to bar in web/*.js': [],
  'Update all files that end in .md': ['README.md', 'docs/one.md', 'docs/two.md'],
  'Rename Lookup to Index in all files (not in comments)': SOURCES,
};

test.each(Object.entries(CASES))('%s', (prompt, files) => {
  expect(meant(prompt)).toEqual(files);
});

test('where git tracks nothing, the files that it does not ignore are meant', () => {
  expect(findMeantFiles('Refactor all files', {tracked: [], all: ['a.ts', 'b.txt', 'c.py']})).toEqual(['a.ts', 'c.py']);
});

test('without a unit, each file that is named counts', () => {
  expect(findMeantFiles('Tidy src/a.ts', {tracked: TRACKED, all: ALL})).toEqual(['src/a.ts']);
});

const ODD = ['src/my dir/a.ts', 'src/my dir/b.ts', 'src/other.ts', 'src/日本/x.ts', 'src/été/y.ts', '文档/z.ts'];
const meantOdd = (prompt: string) =>
  findMeantFiles(prompt, {tracked: [...ODD, ...TRACKED], all: [...ODD, ...ALL]}, detectFanOut(prompt), '/work');

test.each<[string, readonly string[]]>([
  ['Refactor all files in "src/my dir"', ODD.slice(0, 2)],
  ['Refactor all files in src/my dir/', ODD.slice(0, 2)],
  ['Refactor all files in "src/my dir/*.ts"', ODD.slice(0, 2)],
  ['Refactor all files in src/日本/', ['src/日本/x.ts']],
  ['重构 src/日本 里的所有文件', ['src/日本/x.ts']],
  ['重构src/日本里的所有文件', ['src/日本/x.ts']],
  ['重构 文档 目录下的所有文件', ['文档/z.ts']],
  ['Améliorer tous les fichiers dans src/été', ['src/été/y.ts']],
  ['Refactor all files in src/tools/[d-e].ts', ['src/tools/d.ts', 'src/tools/e.ts']],
  ['Refactor all files in src/tools/?.ts', ['src/tools/d.ts', 'src/tools/e.ts']],
  ['Refactor all files in src\\tools', ['src/tools/d.ts', 'src/tools/e.ts', 'src/tools/f.py']],
  ['Refactor all files in ../work/src/tools', ['src/tools/d.ts', 'src/tools/e.ts', 'src/tools/f.py']],
  ['Refactor all files in /work/src/tools/', ['src/tools/d.ts', 'src/tools/e.ts', 'src/tools/f.py']],
  ['Add JSDoc to all functions in d.ts', ['src/tools/d.ts']],
])('spaces, other alphabets, sets and other ways to write a path are understood: %s', (prompt, files) => {
  expect(meantOdd(prompt)).toEqual(files);
});

test.each([
  ['Refactor all files in src/nonexist', 'src/nonexist'],
  ['Refactor all files in src/nonexist/', 'src/nonexist/'],
  ['Refactor all files in SRC/TOOLS', 'SRC/TOOLS'],
  ['Refactor all files in "src/my dri"', 'src/my dri'],
  ['Refactor all files in /etc', '/etc'],
  ['Refactor all files in ..', '..'],
  ['Refactor all files in ~/notes', '~/notes'],
  ['Refactor all files in ../elsewhere/src', '../elsewhere/src'],
  ['Refactor all files in lib/tools to use promises', 'lib/tools'],
  ['Refactor all files in src/tools and src/toolz', 'src/toolz'],
  ['Refactor all files in src/tools, lib/toolz', 'lib/toolz'],
  ['Refactor all files: @src/nonexist', 'src/nonexist'],
  ['Add JSDoc to all functions in src/nonexist.ts', 'src/nonexist.ts'],
  ['重构 src/中国 里的所有文件', 'src/中国'],
  ['Исправь все файлы в src/папка', 'src/папка'],
  ['Refactor all files in src\\toolz', 'src/toolz'],
  ['Refactor all files except src/toolz', 'src/toolz'],
])('a place that does not exist is an error, and never means all files: %s', (prompt, name) => {
  expect(() => meantOdd(prompt)).toThrow(`No file is meant by "${name}" in /work`);
});

test.each([
  'Refactor all files to use async/await and/or promises',
  'Document all files in the TCP/IP stack',
  'Handle errors in input/output code in all files',
  'Update the copyright in all files from 2023/2024 to 2024/2025',
  'Replace all dates in 01/02/2024 by ISO dates in all files',
  'Replace http://a.b/c with https://example.com/in/src/nonexist in all files',
  'Rename the route /users to /people in all files',
  'Replace all imports from lodash/fp by lodash in all files',
  'Replace @scope/pkg with @scope/other in all files',
  'Replace foo?.bar[0] with foo.bar in all files',
  'Refactor all files in .',
])('words with a slash that are no places limit nothing: %s', (prompt) => {
  expect(meant(prompt)).toEqual(SOURCES);
});

test.each<[string, readonly string[]]>([
  ['Update all files in src/tools except d.ts', ['src/tools/e.ts', 'src/tools/f.py']],
  ['Update all files in src/tools but not d.ts and f.py', ['src/tools/e.ts']],
  ['Update all files in src/tools except for the d.ts file, f.py', ['src/tools/e.ts']],
  ['Update all files in src/tools, sauf d.ts', ['src/tools/e.ts', 'src/tools/f.py']],
  ['Update all files except lib, src and web', ['tests/a.test.ts']],
])('a bare name after "except" leaves out the files and the folder of that name: %s', (prompt, files) => {
  expect(meant(prompt)).toEqual(files);
});

test.each<[string, readonly string[]]>([
  ['src', ['src/a.ts', 'src/sub/b.ts']],
  ['src/a.ts', ['src/a.ts']],
  ['a.ts', ['src/a.ts']],
  ['*.{ts,md}', ['src/a.ts', 'src/sub/b.ts', 'x.md']],
  ['src/*.ts', ['src/a.ts']],
  ['sr', []],
])('the name %j means %j', (name, meant) => {
  expect(['src/a.ts', 'src/sub/b.ts', 'x.md', 'srcs/c.js'].filter(createFileTest(name))).toEqual(meant);
});
