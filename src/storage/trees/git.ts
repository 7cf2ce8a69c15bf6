/**
 * Runs mini-cc's own git calls. The settings of a repository can name programs: a file watcher, hooks, filters, ways to
 * fetch missing objects. Opening a folder must not run them, so these calls ignore such settings. Settings that the
 * user made for all repositories (system, home, environment) apply as in the user's own git.
 */
import type {ChildProcess} from 'node:child_process';
import {lstat, realpath} from 'node:fs/promises';
import path from 'node:path';
import {withoutModelKeys} from '../../core/secrets/known-secrets.ts';
import {inBackground, neverRejects} from '../../core/util/background.ts';
import {MiniCcError} from '../../core/util/errors.ts';
import {
  findReadableRepository,
  getControlFiles,
  REPOSITORY_VARIABLES,
  withGitSettings,
} from '../../core/util/files/git-folder.ts';
import {explainSkipped} from '../../core/util/files/project-file.ts';
import {runProgram, startProcess} from '../../core/util/processes.ts';
import {findOwnProgram, getOwnSearchPath} from '../../core/util/programs.ts';
import {findHostileFile} from '../../core/util/ripgrep.ts';

interface GitAnswer {
  readonly exitCode: number;
  /** Bytes, because patches and names need not be UTF-8. */
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface GitOptions {
  /** Variables added to the environment, such as `GIT_DIR`; undefined removes one. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  readonly input?: string | Buffer | undefined;
  /** Milliseconds, default 60,000. */
  readonly limitMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** True for input of another machine, which may name sizes without an end: git then has 2 GB of memory at most. */
  readonly isForeign?: boolean | undefined;
  /**
   * Script for `sh` in place of the call, in which `git` is git itself and `"$@"` the arguments: several calls of git in
   * one start, because each start of a process blocks mini-cc for two milliseconds. Calls that show changes need
   * `--no-ext-diff` and `--no-textconv`.
   */
  readonly script?: string | undefined;
  /** Git settings for this call only. */
  readonly settings?: readonly Pair[];
  /**
   * Cache of settings for calls in a row, and for a repository of mini-cc's own, whose settings do not change. The
   * first call fills it.
   */
  readonly known?: KnownSettings | undefined;
}

export interface KnownSettings {
  overrides?: Promise<Overrides>;
}

/**
 * Returns the settings for a repository of mini-cc's own, whose files name no programs: those that the user made for all
 * repositories, as the first call for the project found them.
 */
export function toOwnSettings({overrides}: KnownSettings): KnownSettings {
  return overrides ? {overrides: overrides.then(({pairs}) => ({env: {}, pairs, settings: []}))} : {};
}

/** Replacements of settings that name programs or another work tree. */
interface Overrides {
  readonly env: GitVariables;
  readonly pairs: readonly Pair[];
  /** The settings as git read them. */
  readonly settings: readonly Setting[];
}

type Pair = readonly [key: string, value: string];
type GitVariables = Readonly<Record<string, string | undefined>>;

const LIMIT_MS = 60_000;
/** Limit for calls that read or write a large checkout. */
const LONG_LIMIT_MS = 30 * 60 * 1000;
const MAX_OUTPUT = 256 * 1024 * 1024;

/** Settings for all calls. They are set in the environment, which takes precedence over the files of the repository. */
const FIXED_SETTINGS: readonly Pair[] = [
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  // A folder of the project that looks like a bare repository could bring git settings.
  ['safe.bareRepository', 'explicit'],
  ['commit.gpgSign', 'false'],
  ['tag.gpgSign', 'false'],
  ['log.showSignature', 'false'],
  ['submodule.recurse', 'false'],
  // These prevent background work after the call.
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
];

/** Settings that name programs and whose key has a part that each repository chooses, with the values used instead. */
const PROGRAM_SETTINGS: readonly {readonly key: RegExp; readonly instead: string}[] = [
  {key: /^filter\..*\.(?:clean|smudge|process)$/s, instead: ''},
  {key: /^filter\..*\.required$/s, instead: 'false'},
  // Git does the same without a driver.
  {key: /^merge\..*\.driver$/s, instead: 'git merge-file --marker-size=%L %A %O %B'},
  {key: /^hook\..*\.enabled$/s, instead: 'false'},
];

/** Commands that show changes, for which a repository can name a program. */
const DIFF_COMMANDS = new Set(['diff', 'diff-files', 'diff-index', 'diff-tree', 'format-patch', 'log', 'show']);
/** Commands that start git in each submodule, whose settings could name programs too. mini-cc does not use them. */
const SUBMODULE_COMMANDS = new Set(['add', 'commit', 'diff', 'diff-files', 'diff-index', 'stash', 'status']);

/**
 * Runs git in a folder. It fetches nothing. A failure of git is no error here; check `exitCode`.
 * @param args the subcommand and its arguments
 * @throws MiniCcError `GIT_FAILED` when git cannot run or cannot read its settings, exceeds its time limit, or prints
 * too much
 */
export async function git(cwd: string, args: readonly string[], options: GitOptions = {}): Promise<GitAnswer> {
  const prepared = await prepare(cwd, args, options);
  return run(cwd, prepared.args, {...options, env: prepared.env});
}

/**
 * Does the same as `git` for a call that runs no program under any settings. The settings are read by the same start
 * when `options.known` does not have them yet.
 * @throws MiniCcError as `git`
 */
export async function gitWithSettings(
  cwd: string,
  args: readonly string[],
  options: GitOptions & {readonly known: KnownSettings},
): Promise<GitAnswer> {
  if (options.known.overrides) return git(cwd, args, options);
  checkControlFiles(cwd, args[0] ?? '');
  const reading = readOverrides(cwd, createCallEnvironment(options), {...options, args});
  const {env} = await remember(options.known, reading);
  const {answer} = await reading;
  // Another work tree has another answer.
  return answer && Object.keys(env).length === 0 ? answer : git(cwd, args, options);
}

/** Returns the value of a setting as git read it; undefined when it is not set. @param key in lower case */
export async function readSetting(cwd: string, key: string, options: GitOptions): Promise<string | undefined> {
  const {settings} = await findOverrides(cwd, createCallEnvironment(options), options.known);
  return settings.findLast((setting) => setting.key === key)?.value;
}

/**
 * Runs git, and reads its list while it is printed, so that a long one is never in memory as a whole.
 * @returns names or lines that end with NUL, some at a time
 * @throws MiniCcError `GIT_FAILED` also when git fails
 */
export async function* readNames(
  cwd: string,
  args: readonly string[],
  options: GitOptions,
): AsyncGenerator<readonly Buffer[]> {
  const prepared = await prepare(cwd, args, options);
  const {child, end} = await startProcess(...getCommandLine(prepared.args, prepared.env, options), {
    cwd,
    env: prepared.env,
    signal: options.signal,
    limitMs: options.limitMs ?? LONG_LIMIT_MS,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let rest = Buffer.alloc(0);
  for await (const chunk of child.stdout ?? []) {
    const listed = Buffer.concat([rest, chunk]);
    const complete = listed.lastIndexOf(0) + 1;
    yield splitNames(listed.subarray(0, complete));
    rest = listed.subarray(complete);
  }
  const {exitCode, message} = await end;
  if (exitCode !== 0) throw createError(args[0], message);
}

/**
 * Starts a script of `GitOptions.script`, with pipes for its input and output. It ends when `signal` is aborted.
 * @throws MiniCcError `GIT_FAILED` when it cannot be started
 */
export async function startGitScript(
  cwd: string,
  script: string,
  args: readonly string[],
  options: GitOptions,
): Promise<ChildProcess> {
  const prepared = await prepare(cwd, args, options);
  const {child, end} = await startProcess(...getCommandLine(prepared.args, prepared.env, {script}), {
    cwd,
    env: prepared.env,
    signal: options.signal,
    killDescendants: true,
    killSignal: 'SIGKILL',
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  inBackground(end, neverRejects);
  // The caller that reads the output notices the end of git.
  child.stdin?.on('error', () => undefined);
  return child;
}

/** Makes the environment and the arguments by which the repository's settings run no program. */
async function prepare(cwd: string, args: readonly string[], options: GitOptions) {
  const env = createCallEnvironment(options);
  const [command = '', ...rest] = args;
  if (SUBMODULE_COMMANDS.has(command)) throw new Error(`git ${command} would start git in submodules`);
  const flags = DIFF_COMMANDS.has(command) ? ['--no-ext-diff', '--no-textconv'] : [];
  checkControlFiles(cwd, command);
  const overrides = await findOverrides(cwd, env, options.known);
  const settings = [...FIXED_SETTINGS, ...overrides.pairs, ...(options.settings ?? [])];
  return {args: [command, ...flags, ...rest], env: withGitSettings({...env, ...overrides.env}, settings)};
}

/**
 * Runs git for work on whole checkouts, which may take half an hour.
 * @param fine exit codes that are no failure
 * @throws MiniCcError `GIT_FAILED` also when git fails, with the command and its error text
 */
export async function gitOrThrow(
  cwd: string,
  args: readonly string[],
  options: GitOptions = {},
  fine: readonly number[] = [0],
): Promise<GitAnswer> {
  const answer = await git(cwd, args, {...options, limitMs: options.limitMs ?? LONG_LIMIT_MS});
  if (fine.includes(answer.exitCode)) return answer;
  throw new MiniCcError(
    'GIT_FAILED',
    `git ${args[0]} failed: ${answer.stderr.trim() || `exit code ${answer.exitCode}`}`,
  );
}

/** @throws MiniCcError `GIT_FAILED` in a repository where git would wait for a pipe or read a device without end */
function checkControlFiles(cwd: string, command: string): void {
  const repository = findReadableRepository(cwd);
  for (const file of repository === undefined ? [] : getControlFiles(repository)) {
    const why = explainSkipped(file, Number.POSITIVE_INFINITY);
    if (why !== undefined) throw createError(command, `${file} ${why}`);
  }
}

/**
 * Finds the environment and settings that replace the repository's own settings for programs and for another work tree.
 */
function findOverrides(cwd: string, env: GitVariables, known: KnownSettings = {}): Promise<Overrides> {
  return known.overrides ?? remember(known, readOverrides(cwd, env));
}

function remember(known: KnownSettings, reading: Promise<Overrides>): Promise<Overrides> {
  known.overrides = reading.catch((error: unknown) => {
    delete known.overrides;
    throw error;
  });
  return known.overrides;
}

const LIST_SETTINGS = ['config', '--list', '--show-scope', '-z'];
/** Prints the settings, an empty part, and what a further call prints. */
const LIST_AND_CALL = `git ${LIST_SETTINGS.join(' ')} || exit\nprintf '\\0'\ngit "$@"`;

/** @param call its `args` are a further call of git, with these settings. `answer` is undefined without one */
async function readOverrides(
  cwd: string,
  env: GitVariables,
  call?: GitOptions & {readonly args: readonly string[]},
): Promise<Overrides & {readonly answer: GitAnswer | undefined}> {
  const how = call ? {signal: call.signal, limitMs: call.limitMs, script: LIST_AND_CALL} : {};
  const listed = await run(cwd, call?.args ?? LIST_SETTINGS, {...how, env: withGitSettings(env, FIXED_SETTINGS)});
  const end = call ? listed.stdout.indexOf('\0\0') + 1 : listed.stdout.length;
  // The command also works outside of a repository. When the settings cannot be read, they cannot be replaced.
  if (call ? end === 0 : listed.exitCode !== 0) throw createError('config', listed.stderr.trim());
  const settings = parseSettings(listed.stdout.toString('utf8', 0, end));
  const isMoved = settings.some(({key, isGlobal}) => key === 'core.worktree' && !isGlobal);
  const isExplicit = env.GIT_DIR !== undefined || env.GIT_WORK_TREE !== undefined;
  // In a submodule this changes nothing. Elsewhere, files of another place would count as the project's.
  const placed = isMoved && !isExplicit ? {GIT_WORK_TREE: await findFolderWithGit(cwd)} : {};
  const answer = call ? {...listed, stdout: listed.stdout.subarray(end + 1)} : undefined;
  return {env: placed, pairs: replaceProgramSettings(settings), settings, answer};
}

/** Returns the nearest folder upwards that contains a `.git`; undefined outside of a repository. */
async function findFolderWithGit(cwd: string): Promise<string | undefined> {
  for (let folder = await realpath(cwd); ; folder = path.dirname(folder)) {
    if (await lstat(path.join(folder, '.git')).catch(() => undefined)) return folder;
    if (path.dirname(folder) === folder) return undefined;
  }
}

/** Creates the environment of a call without replacements of settings. */
function createCallEnvironment({env}: GitOptions): GitVariables {
  // Filters and drivers of the user need no key of the model server.
  return {...createEnvironment(withoutModelKeys(process.env, [])), ...env};
}

/** Creates an environment in which git asks nothing on the terminal, fetches nothing, and takes no optional locks. */
function createEnvironment(env: GitVariables): GitVariables {
  const bare = Object.fromEntries(Object.entries(env).filter(([name]) => !REPOSITORY_VARIABLES.has(name)));
  return {
    ...bare,
    // Git finds filters and merge drivers of the user's settings on it.
    PATH: getOwnSearchPath(env.PATH),
    LC_ALL: 'C',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: '',
    GIT_PAGER: 'cat',
    GIT_EDITOR: ':',
  };
}

interface Setting {
  readonly key: string;
  readonly value: string;
  /** True when set for all repositories, and not by this one alone. */
  readonly isGlobal: boolean;
}

/** @param listed `scope NUL key LF value NUL` for each setting; of several with one key, the last is in effect */
function parseSettings(listed: string): Setting[] {
  const parts = listed.split('\0');
  return parts.flatMap((scope, index) => {
    const entry = parts[index + 1];
    if (index % 2 === 1 || entry === undefined) return [];
    const [key = ''] = entry.split('\n', 1);
    return [{key, value: entry.slice(key.length + 1), isGlobal: ['system', 'global', 'command'].includes(scope)}];
  });
}

/** Returns replacements for settings that name programs. A value that the user set for all repositories stays. */
function replaceProgramSettings(settings: readonly Setting[]): Pair[] {
  const found = new Map<string, string>();
  for (const {key, value, isGlobal} of settings) {
    const hookName = /^(hook\..*)\.[^.]*$/s.exec(key)?.[1];
    const name = hookName === undefined ? key : `${hookName}.enabled`;
    const setting = PROGRAM_SETTINGS.find((each) => each.key.test(name));
    if (!setting) continue;
    if (isGlobal && name === key) found.set(name, value);
    else if (!found.has(name)) found.set(name, setting.instead);
  }
  return [...found];
}

function createError(command: string | undefined, why: string): MiniCcError {
  return new MiniCcError('GIT_FAILED', `git ${command}: ${why}`);
}

/** Kilobytes. The largest patch that a worker may send takes a quarter of it. */
const MAX_FOREIGN_KB = 2 * 1024 * 1024;
/** Files that git reads in each folder of a work tree. */
const READ_IN_FOLDERS = ['.gitignore', '.gitattributes'];
/** Milliseconds after which git may be stuck in a pipe or a device that a folder of the project holds. Most calls take less. */
const SUSPICIOUS_MS = 2_000;

/** @returns a signal that aborts once such a file is found; `end` stops the watch, and returns the file and what it is */
function watchForStuck(top: string) {
  const [found, watching] = [new AbortController(), new AbortController()];
  let stuckAt: string | undefined;
  const timer = setTimeout(async () => {
    stuckAt = await findHostileFile([top], READ_IN_FOLDERS, watching.signal);
    if (stuckAt !== undefined) found.abort();
  }, SUSPICIOUS_MS);
  const end = () => {
    clearTimeout(timer);
    watching.abort();
    return stuckAt;
  };
  return {signal: found.signal, end};
}

async function run(
  cwd: string,
  args: readonly string[],
  {env, signal, input, limitMs = LIMIT_MS, ...how}: GitOptions,
): Promise<GitAnswer> {
  const stuck = watchForStuck(env?.GIT_WORK_TREE ?? findReadableRepository(cwd)?.top ?? cwd);
  const ending = signal ? AbortSignal.any([signal, stuck.signal]) : stuck.signal;
  const options = {cwd, env, signal: ending, input, limitMs, maxBytes: MAX_OUTPUT};
  const {ended, exitCode, stdout, stderr, message} = await runProgram(...getCommandLine(args, env, how), options);
  const stuckAt = stuck.end();
  if (stuckAt !== undefined) throw createError(args[0], stuckAt);
  if (exitCode !== undefined) return {exitCode, stdout, stderr};
  if (ended === 'output') throw createError(args[0], `printed more than ${MAX_OUTPUT / 1024 / 1024} MB`);
  if (ended === 'start' || ended === 'abort') throw createError(args[0], message);
  throw createError(args[0], `was ended, at the latest after its ${limitMs / 1000} s`);
}

function getCommandLine(
  args: readonly string[],
  env: GitVariables | undefined,
  {isForeign, script}: Pick<GitOptions, 'isForeign' | 'script'>,
): [file: string, args: readonly string[]] {
  const own = ['--no-pager', ...args];
  const found = isForeign || script !== undefined ? findOwnProgram('git', env?.PATH) : undefined;
  if (found === undefined) return ['git', own];
  if (script !== undefined) return ['sh', ['-c', `git() { "$0" --no-pager "$@"; }\n${script}`, found, ...args]];
  return ['bash', ['-c', `ulimit -d ${MAX_FOREIGN_KB} 2>/dev/null; exec "$@"`, 'bash', found, ...own]];
}

/**
 * @param answer output of `cat-file --batch-check`
 * @returns the size in bytes of each content by its id; missing ones are left out
 */
export function parseSizes(answer: Buffer | string): Map<string, number> {
  const lines = answer.toString().split('\n');
  return new Map(
    lines.flatMap((line) => {
      const [, id, size] = /^(\w+) blob (\d+)$/.exec(line) ?? [];
      return id === undefined ? [] : [[id, Number(size)] as const];
    }),
  );
}

/** Splits a list in which each part ends with NUL. */
export function splitNames(listed: Buffer): Buffer[] {
  const names: Buffer[] = [];
  for (let at = 0; at < listed.length; ) {
    const end = listed.indexOf(0, at);
    const name = listed.subarray(at, end < 0 ? listed.length : end);
    names.push(name);
    at += name.length + 1;
  }
  return names;
}
