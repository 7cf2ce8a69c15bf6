/**
 * mini-cc's own git calls. A repository's settings can name programs (a file watcher, hooks, filters, ways to fetch
 * what is missing): whoever merely opens a folder must not run them, so none of them counts here. What the user set
 * for all repositories (system, home, environment) holds as it does for the user's own git.
 */
import {lstat, realpath} from 'node:fs/promises';
import path from 'node:path';
import {withoutModelKeys} from '../core/secrets/known-secrets.ts';
import {MiniCcError} from '../core/util/errors.ts';
import {runProgram} from '../core/util/processes.ts';

export interface GitAnswer {
  readonly exitCode: number;
  /** Bytes: patches and names need not be UTF-8. */
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface GitOptions {
  /** Laid over the environment, such as `GIT_DIR`, `GIT_WORK_TREE`, `GIT_INDEX_FILE`; undefined takes one out. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Written to its standard input. */
  readonly input?: string | Buffer;
  /** Milliseconds, 60,000 unless told. */
  readonly limitMs?: number;
  readonly signal?: AbortSignal;
  /** For this call alone. */
  readonly settings?: readonly Pair[];
}

type Pair = readonly [key: string, value: string];
type Variables = Readonly<Record<string, string | undefined>>;

const LIMIT_MS = 60_000;
const MAX_OUTPUT = 256 * 1024 * 1024;

/** Whatever the repository says. A value given by the environment wins over its files. */
const ALWAYS: readonly Pair[] = [
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  // A folder of the project that looks like a bare repository comes with settings of its own.
  ['safe.bareRepository', 'explicit'],
  ['commit.gpgSign', 'false'],
  ['tag.gpgSign', 'false'],
  ['log.showSignature', 'false'],
  ['submodule.recurse', 'false'],
  // Nothing goes on in the background once the call has ended.
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
];

/** Settings that name programs under names that only the repository knows, and what they are when only it says so. */
const BY_NAME: readonly {readonly key: RegExp; readonly instead: string}[] = [
  {key: /^filter\..*\.(?:clean|smudge|process)$/s, instead: ''},
  {key: /^filter\..*\.required$/s, instead: 'false'},
  // What git does by itself where no driver is named.
  {key: /^merge\..*\.driver$/s, instead: 'git merge-file --marker-size=%L %A %O %B'},
  {key: /^hook\..*\.enabled$/s, instead: 'false'},
];

/** In its environment, but not about the folder that is asked for: set where mini-cc is started by a git hook. */
const ABOUT_ANOTHER = [
  'GIT_DIR',
  'GIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_PREFIX',
  'GIT_COMMON_DIR',
  'GIT_OBJECT_DIRECTORY',
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_NAMESPACE',
];

/** They look at refs and objects alone: no setting of the repository that is held back matters to them. */
const KNOWS_NO_FILES = new Set(['pack-objects', 'rev-list', 'symbolic-ref', 'write-tree']);
/** They show what changed, and could ask a program of the repository to put it into words. */
const SHOWS_CHANGES = new Set(['diff', 'diff-files', 'diff-index', 'diff-tree', 'format-patch', 'log', 'show']);
/** They start a git in each submodule: what is held back there too has to be known before. */
const LOOKS_BELOW = new Set(['add', 'commit', 'diff', 'diff-files', 'diff-index', 'stash', 'status']);
const SUBMODULE = /^160000 [^\t]*\t(.+)$/s;

/**
 * Runs git in a folder; `args` begin with the subcommand. A failing git is an answer too: look at `exitCode`.
 * Nothing is fetched.
 * @throws MiniCcError `GIT_FAILED` where git cannot be run or cannot read its settings, takes longer than its limit,
 * or says too much
 */
export async function git(cwd: string, args: readonly string[], options: GitOptions = {}): Promise<GitAnswer> {
  // What the user's own filters and drivers need it for is not the model's server.
  const env = {...quiet(withoutModelKeys(process.env, [])), ...options.env};
  const [command = '', ...rest] = args;
  const flags = SHOWS_CHANGES.has(command) ? ['--no-ext-diff', '--no-textconv'] : [];
  const held = KNOWS_NO_FILES.has(command) ? {env, pairs: []} : await heldBack(cwd, env, LOOKS_BELOW.has(command));
  return run(cwd, [command, ...flags, ...rest], {
    ...options,
    env: withSettings(held.env, [...ALWAYS, ...held.pairs, ...(options.settings ?? [])]),
  });
}

/** Without what the repository's own settings say of programs, and of another place for its files. */
async function heldBack(
  cwd: string,
  env: Variables,
  below: boolean,
): Promise<{readonly env: Variables; readonly pairs: readonly Pair[]}> {
  const listed = await run(cwd, ['config', '--list', '--show-scope', '-z'], {env: withSettings(env, ALWAYS)});
  // Also outside of a repository there is an answer. What cannot be read cannot be held back.
  if (listed.exitCode !== 0) throw failure('config', listed.stderr.trim());
  const settings = settingsIn(listed.stdout.toString());
  const isMoved = settings.some(({key, isUsers}) => key === 'core.worktree' && !isUsers);
  const isTold = env.GIT_DIR !== undefined || env.GIT_WORK_TREE !== undefined;
  // Of a submodule it says where its files are anyway. Elsewhere all that lies there would count as the project's.
  const placed = isMoved && !isTold ? {...env, GIT_WORK_TREE: await folderWithGit(cwd)} : env;
  const pairs = namedPrograms(settings);
  const folders = below ? await submodulesOf(cwd, {env: withSettings(placed, [...ALWAYS, ...pairs])}) : [];
  const inner = await Promise.all(folders.map((folder) => heldBack(folder, quiet(env), true)));
  return {env: placed, pairs: [...inner.flatMap((each) => each.pairs), ...pairs]};
}

/** The nearest folder upwards that holds a `.git`; undefined outside of a repository. */
async function folderWithGit(cwd: string): Promise<string | undefined> {
  for (let folder = await realpath(cwd); ; folder = path.dirname(folder)) {
    if (await exists(path.join(folder, '.git'))) return folder;
    if (path.dirname(folder) === folder) return undefined;
  }
}

function exists(file: string): Promise<boolean> {
  return lstat(file).then(Boolean, () => false);
}

async function submodulesOf(cwd: string, options: GitOptions): Promise<string[]> {
  const index = await run(cwd, ['ls-files', '--stage', '-z', '--full-name', '--', ':/'], options);
  const names = index.stdout
    .toString()
    .split('\0')
    .flatMap((line) => SUBMODULE.exec(line)?.[1] ?? []);
  if (names.length === 0) return [];
  const top = await run(cwd, ['rev-parse', '--show-toplevel'], options);
  const folders = names.map((name) => path.join(top.stdout.toString().replace(/\n$/, ''), name));
  const isThere = await Promise.all(folders.map((folder) => exists(path.join(folder, '.git'))));
  return folders.filter((_, index) => isThere[index]);
}

/** Nothing is asked on the terminal, fetched, or written that need not be. */
function quiet(env: Variables): Variables {
  const bare = Object.fromEntries(Object.entries(env).filter(([name]) => !ABOUT_ANOTHER.includes(name)));
  return {
    ...bare,
    LC_ALL: 'C',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: '',
    GIT_PAGER: 'cat',
    GIT_EDITOR: ':',
  };
}

function withSettings(env: Variables, pairs: readonly Pair[]): Variables {
  const first = Number(env.GIT_CONFIG_COUNT ?? 0) || 0;
  const entries = pairs.flatMap(([key, value], index): Pair[] => [
    [`GIT_CONFIG_KEY_${first + index}`, key],
    [`GIT_CONFIG_VALUE_${first + index}`, value],
  ]);
  return {...env, ...Object.fromEntries(entries), GIT_CONFIG_COUNT: String(first + pairs.length)};
}

interface Setting {
  readonly key: string;
  readonly value: string;
  /** Set for all repositories, not by this one. */
  readonly isUsers: boolean;
}

/** @param listed `scope NUL key LF value NUL` for each setting, the one that counts last. */
function settingsIn(listed: string): Setting[] {
  const parts = listed.split('\0');
  return parts.flatMap((scope, index) => {
    const entry = parts[index + 1];
    if (index % 2 === 1 || entry === undefined) return [];
    const [key = ''] = entry.split('\n', 1);
    return [{key, value: entry.slice(key.length + 1), isUsers: ['system', 'global', 'command'].includes(scope)}];
  });
}

function namedPrograms(settings: readonly Setting[]): Pair[] {
  const found = new Map<string, string>();
  for (const {key, value, isUsers} of settings) {
    const hookName = /^(hook\..*)\.[^.]*$/s.exec(key)?.[1];
    const held = hookName === undefined ? key : `${hookName}.enabled`;
    const about = BY_NAME.find((each) => each.key.test(held));
    if (!about) continue;
    if (isUsers && held === key) found.set(held, value);
    else if (!found.has(held)) found.set(held, about.instead);
  }
  return [...found];
}

function failure(command: string | undefined, why: string): MiniCcError {
  return new MiniCcError('GIT_FAILED', `git ${command}: ${why}`);
}

async function run(
  cwd: string,
  args: readonly string[],
  {env, signal, input, limitMs = LIMIT_MS}: GitOptions,
): Promise<GitAnswer> {
  const options = {cwd, env, signal, input, limitMs, maxBytes: MAX_OUTPUT};
  const {ended, exitCode, stdout, stderr, message} = await runProgram('git', ['--no-pager', ...args], options);
  if (exitCode !== undefined) return {exitCode, stdout, stderr};
  if (ended === 'output') throw failure(args[0], `printed more than ${MAX_OUTPUT / 1024 / 1024} MB`);
  if (ended === 'start' || ended === 'abort') throw failure(args[0], message);
  throw failure(args[0], `was ended, at the latest after its ${limitMs / 1000} s`);
}
