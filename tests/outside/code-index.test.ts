/**
 * Real projects, compared with universal-ctags: each function, class, method and type that it names stands in the index at
 * the same line. `npm run test:outside`; it needs the network and Debian's `universal-ctags`.
 */
import {mkdirSync, mkdtempSync, realpathSync, rmSync} from 'node:fs';
import path from 'node:path';
import {afterAll, beforeAll, expect, onTestFinished, test} from 'vitest';
import {openCodeIndex} from '../../src/code-index/index.ts';
import {run, type Source, unpack} from './downloads.ts';

const base = realpathSync(mkdtempSync('/var/tmp/mini-cc-ctags-'));
const downloads = path.join(base, 'downloads');
beforeAll(() => void mkdirSync(downloads));
afterAll(() => rmSync(base, {recursive: true, force: true}));

/** Without variables inside of functions, names that ctags makes up, and properties of object literals. */
const KINDS = /^(?:function|class|method|struct|interface|func|type|const|member)$/;

const PROJECTS: Readonly<Record<string, Source & {readonly language: string}>> = {
  'jinja2, in Python': {
    ...{from: {debian: 'jinja2'}, file: /^jinja2_.*\.orig\.tar\.gz$/, language: 'Python'},
    sha256: '31351a702a408a9e7595a8fc6150fc3f43bb6bf7e319770cbc0db9df9437e852',
  },
  'pflag, in Go': {
    ...{
      from: {debian: 'golang-github-spf13-pflag'},
      file: /^golang-github-spf13-pflag.*\.orig\.tar\.xz$/,
      language: 'Go',
    },
    sha256: '9b21056481ebf33e78a80ae999a714abb29392a5995a515bc8fefd6d88b6b204',
  },
};

test.each(Object.entries(PROJECTS))('%s', async (name, source) => {
  const root = path.join(base, name.split(',')[0]!);
  unpack(source, downloads, root);
  const index = openCodeIndex({root, env: {PATH: process.env.PATH ?? ''}});
  onTestFinished(() => index.close());
  const {found, coverage} = await index.definitions({});
  expect(coverage.withErrors).toEqual([]);
  const ours = new Set(found.map((each) => `${each.path}:${each.line} ${each.name}`));
  const args = ['--output-format=json', '--fields=+nzK', '-R', `--languages=${source.language}`, '-f', '-', '.'];
  const tags = run('ctags', args, root)
    .split('\n')
    .map((line) => JSON.parse(line) as {name: string; path: string; line: number; kind: string; scopeKind?: string})
    .filter(({kind, scopeKind, name: own}) => KINDS.test(kind) && scopeKind !== 'function' && !own.startsWith('anon'));
  expect(tags.length).toBeGreaterThan(100);
  const missing = tags
    .map((tag) => `${path.posix.normalize(tag.path)}:${tag.line} ${tag.name}`)
    .filter((place) => !ours.has(place));
  expect(missing).toEqual([]);
});
