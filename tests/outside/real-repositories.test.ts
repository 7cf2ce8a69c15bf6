/**
 * Real projects in Node, Python and Go, from npm and Debian, by their checksums, with a history made of them: the main agent
 * reads them without a question, and sees what it would see unconfined. `npm run test:outside`; it needs the network.
 */
import {createHash} from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import {rgPath} from '@vscode/ripgrep';
import {execaSync} from 'execa';
import {afterAll, beforeAll, expect, onTestFinished, test} from 'vitest';
import {commandsFor, doWork, findDifferences} from '../e2e/real-work-fixture.ts';
import {createHome} from '../support/environment.ts';
import {hasSandbox} from '../support/sandbox.ts';

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
  run('npm', [
    'install',
    '--global',
    '--prefix',
    path.join(base, 'tools'),
    '--no-audit',
    '--no-fund',
    'typescript@5.7.2',
  ]);
}, 5 * MINUTES);

function run(file: string, args: readonly string[], cwd = downloads): string {
  return execaSync(file, args, {cwd, env: {npm_config_update_notifier: 'false'}}).stdout;
}

/** @returns the one file that the download made. @throws Error when its content is another one than it was */
function check(pattern: RegExp, sha256: string): string {
  const file = path.join(downloads, readdirSync(downloads).find((name) => pattern.test(name)) ?? 'nothing');
  const found = createHash('sha256').update(readFileSync(file)).digest('hex');
  if (found !== sha256) throw new Error(`${file} has the checksum ${found}, and not ${sha256}`);
  return file;
}

interface Project {
  readonly download: () => void;
  readonly file: RegExp;
  readonly sha256: string;
  readonly unpack: (file: string, root: string) => void;
  /** A file of many lines. */
  readonly source: string;
  readonly commands: readonly string[];
}

const untar = (file: string, root: string) =>
  void run('tar', ['xf', file, '--no-same-owner', '--strip-components=1', '-C', root]);
const LISTS = [
  '-o',
  `Dir::Etc::sourcelist=${downloads}/src.list`,
  '-o',
  'Dir::Etc::sourceparts=-',
  '-o',
  `Dir::State::lists=${downloads}/lists`,
];

/** The source of a Debian package, by lists of its own: the machine's need not name sources. */
function downloadSource(name: string): void {
  if (!existsSync(path.join(downloads, 'src.list'))) {
    mkdirSync(path.join(downloads, 'lists/partial'), {recursive: true});
    writeFileSync(path.join(downloads, 'src.list'), 'deb-src http://deb.debian.org/debian bookworm main\n');
    run('apt-get', [...LISTS, '--quiet', 'update']);
  }
  run('apt-get', [...LISTS, '--quiet', 'source', '--download-only', name]);
}

const PROJECTS: Readonly<Record<string, Project>> = {
  'express, in Node': {
    download: () => void run('npm', ['pack', '--silent', 'express@4.21.2']),
    file: /^express-.*\.tgz$/,
    sha256: 'fc43a91e7dc7affb53c6ad7123a4f35485ed3c45226ae7a3847b7738e783e008',
    unpack: (file, root) => {
      untar(file, root);
      // `npm ls` names a log with a time in it where something is missing.
      run('npm', ['pkg', 'delete', 'devDependencies'], root);
      run('npm', ['install', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'], root);
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
    download: () => downloadSource('jinja2'),
    file: /^jinja2_.*\.orig\.tar\.gz$/,
    sha256: '31351a702a408a9e7595a8fc6150fc3f43bb6bf7e319770cbc0db9df9437e852',
    unpack: untar,
    source: 'src/jinja2/meta.py',
    commands: [
      'python3 --version',
      'rg -n "^def get" --sort path',
      'rg -c "class " --sort path | sort -t: -k2 -n | tail -3',
    ],
  },
  'pflag, in Go': {
    download: () => downloadSource('golang-github-spf13-pflag'),
    file: /^golang-github-spf13-pflag.*\.orig\.tar\.xz$/,
    sha256: '9b21056481ebf33e78a80ae999a714abb29392a5995a515bc8fefd6d88b6b204',
    unpack: untar,
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
    mkdirSync(root);
    project.download();
    project.unpack(check(project.file, project.sha256), root);
    makeHistory(root, project.source);
    const commands = [...project.commands, ...commandsFor(project.source)];
    const work = await doWork(root, commands, {home, programs: [programs, path.join(base, 'tools/bin')]});
    expect(findDifferences(work)).toEqual([]);
    // They did print something, and succeed.
    expect(work.filter(({plain}) => plain.length > 20).length).toBeGreaterThan(40);
  },
  10 * MINUTES,
);
