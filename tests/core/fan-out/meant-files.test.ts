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
