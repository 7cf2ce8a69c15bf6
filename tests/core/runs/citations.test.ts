/** Which places a text cites: every form that people write, and nothing that is no path. */
import {mkdirSync, mkdtempSync, realpathSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {findCitations} from '../../../src/core/runs/citations.ts';
import {measureCpu} from '../../support/cpu-time.ts';

const FILES: Readonly<Record<string, number>> = {
  'src/a.ts': 20,
  'src/deep/b.test.tsx': 20,
  'app/[id]/page.tsx': 20,
  '(auth)/login.tsx': 20,
  'docs/My notes.md': 20,
  'src/größe.py': 20,
  'docs/说明.md': 20,
  'package.json': 20,
  Makefile: 20,
  LICENSE: 20,
  '.gitignore': 20,
  '@scope/x.js': 20,
  'c++/main.cc': 20,
  'bin/run': 20,
};

const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'citations-')));
for (const [file, lines] of Object.entries(FILES)) {
  mkdirSync(path.dirname(path.join(root, file)), {recursive: true});
  writeFileSync(path.join(root, file), 'line\n'.repeat(lines));
}

/** Each cites one place, which exists. */
const EXIST = [
  'src/a.ts:3',
  'See src/a.ts:3.',
  'src/a.ts:3, and more',
  '(src/a.ts:3)',
  '(package.json:2)',
  'Auth (src/a.ts:1-2)',
  '[src/a.ts:1](src/a.ts)',
  '[src/a.ts:1](src/a.ts#heading)',
  '[the loop](src/a.ts:3)',
  '[`src/a.ts:3`](src/a.ts)',
  '`src/a.ts:3`',
  '"src/a.ts:3"',
  "'src/a.ts:3'",
  '“src/a.ts:3”',
  '«src/a.ts:3»',
  '<src/a.ts:3>',
  '{src/a.ts:3}',
  '**src/a.ts:3**',
  '_src/deep/b.test.tsx:3_',
  '@src/a.ts:3',
  'See (@src/a.ts:3)',
  '@scope/x.js:3',
  '- src/a.ts:3: the loop',
  '1. src/a.ts:3 — the loop',
  '| src/a.ts:3 | loop |',
  '|src/a.ts:3|loop|',
  'src/a.ts:3-9',
  'src/a.ts:3–9',
  'src/a.ts:3:5',
  'src/a.ts:3:5-9:2',
  'src/a.ts:3,7',
  'src/a.ts:3, 7-9',
  'src/a.ts:L3',
  'src/a.ts:L3-L9',
  'src/a.ts#L3',
  'src/a.ts#L3-L9',
  'src/a.ts (line 3)',
  'src/a.ts, lines 3-9',
  'src/a.ts line 3',
  './src/a.ts:3',
  'at main (src/a.ts:3:5)',
  'error in src/a.ts:3: x is not a function',
  'file=src/a.ts:3',
  'see:src/a.ts:3',
  'a→src/a.ts:3',
  '在src/a.ts:3中',
  '(见src/a.ts:3)',
  'src/a.ts:3',
  'docs/说明.md:3',
  'src/größe.py:3',
  'app/[id]/page.tsx:3',
  '[app/[id]/page.tsx:3](app/[id]/page.tsx)',
  '(auth)/login.tsx:3',
  '((auth)/login.tsx:3)',
  '`docs/My notes.md:3`',
  '[docs/My notes.md:3](docs/My%20notes.md)',
  'Makefile:3',
  'LICENSE:3',
  '.gitignore:3',
  '@scope/x.js:3',
  'c++/main.cc:3',
  'bin/run:3',
  'src/a.ts:20',
  `${root}/src/a.ts:3`,
];

/** Each cites one place, which does not exist. */
const MISSING = [
  ['src/a.ts:21', 'src/a.ts:21'],
  ['src/a.ts:0', 'src/a.ts:0'],
  ['src/a.ts:3-99', 'src/a.ts:3-99'],
  ['src/a.ts:3,99', 'src/a.ts:3,99'],
  ['(src/nope.ts:3)', 'src/nope.ts:3'],
  ['[src/nope.ts:3](src/nope.ts)', 'src/nope.ts:3'],
  ['`nope.py:3`', 'nope.py:3'],
  ['src/nope:3', 'src/nope:3'],
  ['nowhere/nope.go:3', 'nowhere/nope.go:3'],
  ['在nope.ts:3中', '在nope.ts:3'],
  ['Gemfile:3', 'Gemfile:3'],
] as const;

/** None cites a place. */
const NONE = [
  'at 12:30',
  'at 12:30:45',
  '2026-11-22T10:20:30',
  'http://h:80',
  'https://example.com/src/a.ts:80',
  'http://localhost:3000/src',
  'localhost:3000',
  '127.0.0.1:8080',
  '[::1]:8080',
  'example.com:443',
  'db.staging.internal:5432',
  'a:1',
  'a: 1',
  'ratio 3:4',
  'John 3:16',
  'node:20',
  'postgres:16',
  'registry.local/image:3',
  'git@github.com:3',
  'redis://h:6379',
  '{"a":1}',
  'width:100',
  'and/or:3',
  'step 1:2',
  'std::vector:3',
  'C:3',
  '/etc/passwd:1',
  '../outside.ts:3',
  'see line 3',
  'v1.2:3',
  ':3',
  '::3',
];

describe('findCitations', () => {
  it.each(EXIST)('finds the place in %s', (text) => {
    expect(findCitations(text, root)).toMatchObject([{text: expect.any(String), exists: true}]);
  });

  it.each(MISSING)('says that the place in %s does not exist', (text, named) => {
    expect(findCitations(text, root)).toMatchObject([{text: named, exists: false}]);
  });

  it.each(NONE)('finds no place in %s', (text) => {
    expect(findCitations(text, root)).toEqual([]);
  });

  it('counts a place once, and two places of a file twice', () => {
    expect(findCitations('src/a.ts:3, src/a.ts:3 and src/a.ts:4', root)).toHaveLength(2);
  });

  it('takes time linear in the text', () => {
    const texts = [
      '('.repeat(50_000),
      'a/'.repeat(50_000),
      `${'['.repeat(300)}a.ts:3 `.repeat(300),
      ':1'.repeat(50_000),
    ];
    const ms = measureCpu(() => {
      for (const text of texts) findCitations(`${text}:3`, root);
    });
    expect(ms).toBeLessThan(5000);
  });
});

it('of a whole sentence are each their own, behind a bracket, quotes and an apostrophe that ended before', () => {
  const text = 'Don\'t miss [src/a.ts:1](src/a.ts), "it" in `x` (see b), at 12:30, localhost:8080, nope.ts:4';
  expect(findCitations(text, root)).toMatchObject([
    {text: 'src/a.ts:1', exists: true},
    {text: 'nope.ts:4', exists: false},
  ]);
});
