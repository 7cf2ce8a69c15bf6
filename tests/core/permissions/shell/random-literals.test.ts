/**
 * Random commands of the literal grammar's own programs and options, with hostile words: those that pass without a
 * sandbox run in real bash, in a folder of traps. They change no file, start no other program and print no key.
 * `MINI_CC_COMMANDS`: how many (`npm run soak`: 10,000). `MINI_CC_COMMAND_SEED`: the first seed.
 */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {execa} from 'execa';
import {afterAll, beforeAll, expect, it} from 'vitest';
import type {Workspace} from '../../../../src/core/contract/permission.ts';
import {LITERAL_PROGRAMS} from '../../../../src/core/permissions/shell/literal-grammar.ts';
import {permissionFixture} from '../fixture.ts';

const {run} = permissionFixture();

const COUNT = Number(process.env.MINI_CC_COMMANDS ?? 300);
const SEED = Number(process.env.MINI_CC_COMMAND_SEED ?? 1);
/** So many run in one process of bash. */
const BATCH = 50;
const KEY = 'CANARY-of-a-key';

const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-literals-')));
const root = path.join(base, 'work');
const bin = path.join(base, 'bin');
const workspace: Workspace = {
  ...{root, extraRoots: [], cwd: root, confinement: 'none'},
  env: {PATH: bin, HOME: path.join(base, 'home'), GIT_CONFIG_NOSYSTEM: '1'},
};

/** Names of the traps, and words by which programs read elsewhere, write, or run others. */
const HOSTILE = [
  ...[
    '/etc/passwd',
    '../outside/key',
    'out/key',
    'out',
    'link',
    'a=~/key',
    'a=',
    '~/key',
    '"~/key"',
    '@list',
    "'@list'",
  ],
  ...[
    '*',
    'g*',
    '[a-z]*',
    '{a,out}',
    '$HOME/key',
    '"$HOME/key"',
    '$(./evil)',
    '`./evil`',
    '<(./evil)',
    ';./evil',
    '|./evil',
  ],
  ...[
    '>x',
    '> x',
    '2>x',
    '&>x',
    '<out/key',
    '--pre=./evil',
    '--pre',
    './evil',
    '-o',
    '-ox',
    '--output=x',
    '-f',
    '-fout/key',
  ],
  ...[
    '--files0-from=list',
    '-exec',
    '-delete',
    '-fprint',
    '-i',
    '-L',
    '-R',
    '-C',
    '-Csub',
    '-c',
    'core.pager=./evil',
    '-z',
  ],
  ...[
    '--ext-diff',
    '--textconv',
    '--no-index',
    '-O./evil',
    '--format=%G?',
    '&',
    '\n',
    '\\',
    '"',
    "'",
    '(',
    ')',
    '#',
    '!',
    '{',
    '[',
  ],
  ...[
    '--compress-program=./evil',
    '-T',
    '--',
    '-',
    '..',
    '../..',
    '/',
    '-version',
    '--help',
    'sub',
    'sub/..',
    'HEAD:../a',
    '~',
  ],
];
const PLAIN = [
  'a',
  'b.txt',
  'src',
  'src/c.ts',
  '.',
  'one',
  "'one two'",
  '"*.ts"',
  'HEAD',
  'main',
  '3',
  '1,2',
  'src/',
  './a',
];
/** First words of programs that must have some. */
const BEGINNINGS: Readonly<Record<string, readonly string[]>> = {
  ...{sed: ['-n', '1,2p'], command: ['-v'], 'git stash': ['list']},
  printf: ["'%s %05d %% %-3s'"],
};
const BETWEEN = [' | ', ' && ', ' || ', '; ', ' 2>&1 | ', ' 2>/dev/null | ', ' & ', '|', '\n'];

beforeAll(async () => {
  for (const folder of [root, bin, path.join(base, 'home'), path.join(base, 'outside')]) mkdirSync(folder);
  const names = new Set([...LITERAL_PROGRAMS.keys()].map((name) => name.split(' ')[0]!));
  for (const name of ['bash', ...names]) {
    const {stdout = ''} = await execa('bash', ['-c', `type -P ${name}`], {reject: false});
    if (stdout !== '') symlinkSync(stdout, path.join(bin, name));
  }
  for (const file of ['outside/key', 'home/key']) writeFileSync(path.join(base, file), `${KEY}\n`);
  const put = (file: string, text: string, mode = 0o644) => {
    mkdirSync(path.dirname(path.join(root, file)), {recursive: true});
    writeFileSync(path.join(root, file), text, {mode});
  };
  put('a', 'one\ntwo\nthree\n');
  put('b.txt', 'two\none\n');
  put('src/c.ts', 'one\n');
  put('sub/a', 'one\n');
  put('list', `${base}/outside/key`);
  put('evil', `#!/bin/sh\n: > ${root}/ran\nread key < ${base}/outside/key\necho $key\n`, 0o755);
  for (const name of ['-o', '--pre=.', '-exec', 'x y']) put(name, 'one\n');
  put('.gitattributes', '* diff=x filter=x\n');
  const links: Readonly<Record<string, string>> = {
    out: '../outside',
    link: '../outside/key',
    'a=': '/',
    'src/out': '../../outside',
  };
  for (const [name, target] of Object.entries(links)) symlinkSync(target, path.join(root, name));
  const git = (...args: string[]) =>
    execa('git', ['-C', root, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
      env: {GIT_CONFIG_GLOBAL: '/dev/null'},
    });
  await git('init', '-q', '-b', 'main');
  await git('add', '.');
  await git('commit', '-q', '-m', 'one');
  rmSync(path.join(root, '.git/hooks'), {recursive: true, force: true});
  put('a', 'one\ntwo\nfour\n');
});
afterAll(() => rmSync(base, {recursive: true}));

/** Numbers from 0 up to 1, the same for each seed. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function createCommand(seed: number): string {
  const random = createRandom(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const times = <T>(max: number, make: () => T): T[] => Array.from({length: Math.floor(random() * (max + 1))}, make);
  const createOption = ({flags = '', options = ''}: {flags?: string; options?: string}): string => {
    const whole = options.split(/\s+/).filter((option) => option !== '');
    if (flags === '' && whole.length === 0) return pick(PLAIN);
    if (flags !== '' && (whole.length === 0 || random() < 0.5))
      return `-${times(2, () => pick([...flags])).join('')}${pick([...flags])}`;
    const option = pick(whole);
    const value = random() < 0.1 ? pick(HOSTILE) : pick(['1', '2', '1,3', ':']);
    return option.replace(/[#?*]$/, value);
  };
  const createPart = () => {
    const [name, spec] = pick([...LITERAL_PROGRAMS]);
    const begin = BEGINNINGS[name] ?? (spec.begin ? ['--version'] : []);
    const words = [...times(3, () => createOption(spec)), ...times(2, () => pick(PLAIN))];
    if (random() < 0.3) words.splice(Math.floor(random() * (words.length + 1)), 0, pick(HOSTILE));
    return [name, ...begin, ...words].join(' ');
  };
  const parts = [
    ...(random() < 0.1 ? [`cd ${pick(['src', 'sub', '.', 'out', '..'])}`] : []),
    createPart(),
    ...times(2, createPart),
  ];
  return parts.reduce((all, part) => all + (random() < 0.9 ? pick(BETWEEN.slice(0, 6)) : pick(BETWEEN)) + part);
}

/** All files with their contents. Git may refresh its index. */
function fingerprint(folder: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const entry of readdirSync(folder, {withFileTypes: true})) {
    const file = path.join(folder, entry.name);
    if (entry.isSymbolicLink()) found.set(file, readlinkSync(file));
    else if (entry.isDirectory())
      for (const [name, text] of [[file, ''] as const, ...fingerprint(file)]) found.set(name, text);
    else if (!file.endsWith('/.git/index')) found.set(file, readFileSync(file, 'latin1'));
  }
  return found;
}

async function runAll(commands: readonly string[]): Promise<string> {
  const script = 'for command; do ( eval "$command" ); done';
  const {all} = await execa(path.join(bin, 'bash'), ['-c', script, 'bash', ...commands], {
    ...{cwd: root, env: workspace.env, extendEnv: false, reject: false, all: true, stdin: 'ignore', timeout: 60_000},
  });
  return all;
}

it('random literal commands change nothing, run no other program and print no key', async () => {
  const before = fingerprint(base);
  const passed: string[] = [];
  for (let seed = SEED; seed < SEED + COUNT; seed += 1) {
    const command = createCommand(seed);
    const {verdict} = await run(command, {in: workspace, sandbox: false});
    if (verdict === 'allow') passed.push(command);
  }
  // So that the test tries something.
  expect(passed.length).toBeGreaterThan(COUNT / 5);
  const programs = passed.map((command) => command.split(' ')[0]);
  expect(new Set(programs).size).toBeGreaterThan(Math.min(15, COUNT / 20));
  for (let at = 0; at < passed.length; at += BATCH) {
    const batch = passed.slice(at, at + BATCH);
    const output = await runAll(batch);
    const now = fingerprint(base);
    const changed = [...new Set([...now.keys(), ...before.keys()])].filter(
      (file) => now.get(file) !== before.get(file),
    );
    expect(changed, batch.join('\n')).toEqual([]);
    expect(output.includes(KEY), batch.join('\n')).toBe(false);
  }
});

it('the traps work: commands that do not pass print the key, run the program and write', async () => {
  const before = fingerprint(base).size;
  expect(await runAll(['cat link'])).toContain(KEY);
  expect(await runAll(['git -c diff.external=./evil diff', 'sort -ox a'])).toContain(KEY);
  expect(fingerprint(base).size).toBe(before + 2);
  for (const file of ['ran', 'x']) rmSync(path.join(root, file));
});
