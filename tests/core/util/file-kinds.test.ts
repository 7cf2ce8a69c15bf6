import {matchesGlob} from 'node:path';
import {describe, expect, it} from 'vitest';
import {
  findKind,
  getExtensions,
  getLanguage,
  hasTests,
  isCode,
  isGenerated,
  isSource,
  isTest,
  isText,
  TEST_FILES,
} from '../../../src/core/util/file-kinds.ts';

const FILES = [
  'a.ts',
  'a.tsx',
  'a.js',
  'a.h',
  'a.cpp',
  'a.rake',
  'a.scss',
  'a.md',
  'a.xml',
  'a.txt',
  'a.sh',
  'Makefile',
];
const select = (word: string) => FILES.filter(findKind(word) ?? (() => false));

describe('the language of a file', () => {
  it.each([
    ['a.mts', 'TypeScript'],
    ['B.HPP', 'C++'],
    ['x.h', 'C'],
    ['lib/tasks.rake', 'Ruby'],
    ['README.markdown', 'Markdown'],
    ['pom.xml', undefined],
    ['Makefile', undefined],
  ])('%s: %s', (file, language) => expect(getLanguage(file)).toBe(language));

  it('has its extensions by its name, in any case', () => {
    expect(getExtensions('typescript')).toEqual(['ts', 'tsx', 'mts', 'cts']);
    expect(getExtensions('constructor')).toEqual([]);
  });
});

it.each([
  ['TypeScript', ['a.ts', 'a.tsx']],
  ['tsx', ['a.tsx']],
  ['c++', ['a.h', 'a.cpp']],
  ['scss', ['a.scss']],
  ['.md', ['a.md']],
  ['text', ['a.txt']],
  ['toString', []],
])('A prompt means by %s files %j', (word, files) => expect(select(word)).toEqual(files));

it('Programs and styles are source; data is none, and installed files are not either', () => {
  expect(FILES.filter(isSource)).toEqual(['a.ts', 'a.tsx', 'a.js', 'a.h', 'a.cpp', 'a.rake', 'a.scss', 'a.sh']);
  expect(FILES.filter(isCode)).not.toContain('a.scss');
  expect(isSource('node_modules/x/a.ts')).toBe(false);
  expect(['a.png', 'yarn.lock', 'a.min.js'].filter(isText)).toEqual([]);
  expect(['dist/a.js', 'go.sum', 'a.js.map'].every(isGenerated)).toBe(true);
  expect(isText('dist/a.js')).toBe(true);
});

it.each([
  'tests/a.ts',
  'spec/a.rb',
  'a.test.ts',
  'a_test.go',
  'test_a.py',
  'test_a.c',
  'conftest.py',
  'OrderTest.java',
])('%s is a test, and the glob finds it', (file) => {
  expect(isTest(file)).toBe(true);
  expect(matchesGlob(`x/${file}`, TEST_FILES)).toBe(true);
});

it.each(['contest.c', 'latest.cpp', 'src/attest.ts', 'tests/data.json'])('%s is none', (file) => {
  expect(isTest(file)).toBe(false);
});

it.each(['conftest.py', 'spec/spec_helper.rb', 'test/test_helper.exs', 'tests/setup.ts', 'test/jest.setup.js'])(
  '%s helps tests and has none',
  (file) => {
    expect(isTest(file)).toBe(true);
    expect(hasTests(file)).toBe(false);
    expect(hasTests('tests/setup.test.ts')).toBe(true);
  },
);
