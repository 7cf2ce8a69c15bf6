/**
 * Real projects in Node, Python and Go, from npm and Debian, by their checksums, with a history made of them: the main agent
 * reads them without a question, and sees what it would see unconfined. `npm run test:outside`; it needs the network.
 */
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import {rgPath} from '@vscode/ripgrep';
import {afterAll, beforeAll, expect, onTestFinished, test} from 'vitest';
import {commandsFor, doWork, findDifferences} from '../e2e/real-work-fixture.ts';
import {createHome} from '../support/environment.ts';
import {hasSandbox} from '../support/sandbox.ts';
import {installPackages, PINNED_ON, run, type Source, TYPESCRIPT, unpack} from './downloads.ts';

const MINUTES = 60_000;
/** Outside of /tmp, since confined commands have a /tmp of their own. */
const base = realpathSync(mkdtempSync('/var/tmp/mini-cc-outside-'));
const downloads = path.join(base, 'downloads');
const programs = path.join(base, 'bin');
afterAll(() => rmSync(base, {recursive: true, force: true}));

beforeAll(() => {
  if (process.platform !== 'linux') throw new Error('These tests compare with the sandbox of Linux.');
  mkdirSync(downloads);
  mkdirSync(programs);
  copyFileSync(rgPath, path.join(programs, 'rg'));
  chmodSync(path.join(programs, 'rg'), 0o755);
  installPackages(TYPESCRIPT, path.join(base, 'tools'));
}, 5 * MINUTES);

interface Project extends Source {
  /** What is done after unpacking. */
  readonly prepare?: (root: string) => void;
  /** A file of many lines. */
  readonly source: string;
  readonly commands: readonly string[];
}

const PROJECTS: Readonly<Record<string, Project>> = {
  'express, in Node': {
    from: {npm: 'express@4.21.2'},
    file: /^express-.*\.tgz$/,
    sha256: 'fc43a91e7dc7affb53c6ad7123a4f35485ed3c45226ae7a3847b7738e783e008',
    prepare: (root) => {
      // `npm ls` names a log with a time in it where something is missing.
      run('npm', ['pkg', 'delete', 'devDependencies'], root);
      run(
        'npm',
        ['install', `--before=${PINNED_ON}`, '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'],
        root,
      );
      writeFileSync(path.join(root, '.gitignore'), 'node_modules\n');
    },
    source: 'lib/view.js',
    commands: [
      'npm ls',
      'npm ls --all',
      'npm ls --depth=0 --json',
      'tsc --noEmit --version',
      'jq .version package.json',
      'jq -r ".dependencies | keys[]" package.json | head -3',
      'cat package.json | jq .name',
      'npm --version',
      'node --version',
    ],
  },
  'jinja2, in Python': {
    from: {debian: 'jinja2'},
    file: /^jinja2_.*\.orig\.tar\.gz$/,
    sha256: '31351a702a408a9e7595a8fc6150fc3f43bb6bf7e319770cbc0db9df9437e852',
    source: 'src/jinja2/meta.py',
    commands: [
      'python3 --version',
      'rg -n "^def get" --sort path',
      'rg -c "class " --sort path | sort -t: -k2 -n | tail -3',
    ],
  },
  'pflag, in Go': {
    from: {debian: 'golang-github-spf13-pflag'},
    file: /^golang-github-spf13-pflag.*\.orig\.tar\.xz$/,
    sha256: '9b21056481ebf33e78a80ae999a714abb29392a5995a515bc8fefd6d88b6b204',
    source: 'bool.go',
    commands: [
      'rg -n "^func New" --sort path',
      'find . -name "*_test.go" | wc -l',
      'grep -rn "func (f \\*FlagSet)" --include=*.go . | sort | uniq -c | sort -rn | head -5',
    ],
  },
};

/** Three commits of thirds of the files, then changes, and changes that are not committed. */
function makeHistory(root: string, source: string): void {
  const git = (...args: string[]) =>
    run('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], root);
  git('init', '--quiet', '--initial-branch=main');
  git('add', '--all');
  const files = git('ls-files').split('\n');
  git('rm', '-r', '--quiet', '--cached', '.');
  for (const part of [0, 1, 2]) {
    git('add', '--', ...files.filter((_, at) => at % 3 === part));
    git('commit', '--quiet', '--message', `Part ${part + 1}`);
  }
  for (const change of ['TODO one', 'TODO two']) {
    appendFileSync(path.join(root, source), `\n// ${change}\n`);
    git('commit', '--quiet', '--all', '--message', change);
  }
  git('tag', 'v1');
  git('branch', 'other', 'HEAD~1');
  appendFileSync(path.join(root, source), '\n// not committed\n');
  writeFileSync(path.join(root, 'untracked.txt'), 'new\n');
}

test('there is a sandbox on this machine', async () => {
  expect(await hasSandbox()).toBe(true);
});

test.each(Object.entries(PROJECTS))(
  '%s: the main agent reads it, asks nothing, and sees what is there',
  async (name, project) => {
    const home = await createHome();
    onTestFinished(home.remove);
    const root = path.join(base, name.replace(/,.*/, ''));
    unpack(project, downloads, root);
    project.prepare?.(root);
    makeHistory(root, project.source);
    const commands = [...project.commands, ...commandsFor(project.source)];
    const work = await doWork(root, commands, {home, programs: [programs, path.join(base, 'tools/node_modules/.bin')]});
    expect(findDifferences(work)).toEqual([]);
    // They did print something, and succeed.
    expect(work.filter(({plain}) => plain.length > 20).length).toBeGreaterThan(40);
  },
  10 * MINUTES,
);
