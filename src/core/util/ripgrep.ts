/** Runs ripgrep and passes on its records as they arrive. */
import path from 'node:path';
import type {Writable} from 'node:stream';
import {StringDecoder} from 'node:string_decoder';
import {getErrorMessage, MiniCcError} from './errors.ts';
import {explainSkipped} from './files/project-file.ts';
import {type ProcessEnd, runProgram, startProcess} from './processes.ts';
import {listWords} from './text.ts';

export const SEARCH_LIMIT_MS = 20_000;
const MAX_STDERR_CHARS = 4000;

/**
 * Every search includes hidden files, respects `.gitignore` also outside of git, and ignores the user's configuration.
 */
const COMMON = ['--no-config', '--no-require-git', '--hidden', '--color=never'];
/** These globs come after those of the call, because the last glob that matches wins. */
const NOT_GIT = ['--glob', '!.git'];
/** No search reads keys, even if the workspace is a home directory. */
const NOT_KEYS = listWords(`
  .ssh .gnupg .aws .kube .azure .docker .netrc .git-credentials .password-store
`).flatMap((name) => ['--glob', `!**/${name}`]);

/** Files from which ripgrep reads what to ignore, in each folder. */
export const IGNORE_FILES = ['.gitignore', '.ignore', '.rgignore'];
export const MAX_IGNORE_BYTES = 1024 * 1024;
/** Milliseconds after which a search may be stuck in an ignore file that is a pipe or a device. Most take less. */
const SUSPICIOUS_MS = 250;

/** Lists the ignore files of the searched folders and of those above them. */
function listIgnoreFiles({cwd, paths}: RipgrepRun): string[] {
  const folders = new Set<string>();
  for (const place of paths) {
    let folder = path.resolve(cwd, place);
    while (!folders.has(folder)) {
      folders.add(folder);
      folder = path.dirname(folder);
    }
  }
  return [...folders].flatMap((folder) =>
    [...IGNORE_FILES, '.git/info/exclude'].map((name) => path.join(folder, name)),
  );
}

/** Files that a search reads in each folder besides those that it searches. */
const READ_BY_SEARCHES = [...IGNORE_FILES, 'exclude', 'commondir'];

/**
 * Finds a file of these names, in these folders and below, that is no regular file, or too large to be read.
 * @param places absolute paths
 * @returns its path and what it is, as the start of a sentence
 */
export async function findHostileFile(
  places: readonly string[],
  names: readonly string[],
  signal: AbortSignal,
): Promise<string | undefined> {
  const named = names.flatMap((name, index) => [...(index > 0 ? ['-o'] : []), '-name', name]);
  const kinds = listWords('( -type p -o -type l -o -type c -o -type b -o -type s -o -size +2048 ) -print0');
  const tests = ['-path', '*/.git/objects', '-prune', '-o', '(', ...named, ')', ...kinds];
  const {stdout} = await runProgram('find', [...places, ...tests], {signal, limitMs: SEARCH_LIMIT_MS});
  const files = stdout
    .toString()
    .split('\0')
    .filter((file) => file !== '');
  return files
    .map((file) => `${file} ${explainSkipped(file, MAX_IGNORE_BYTES) ?? ''}`)
    .find((line) => !line.endsWith(' '));
}

export interface RipgrepRun {
  readonly args: readonly string[];
  /** Folder in which ripgrep runs. Globs are relative to it. */
  readonly cwd: string;
  /** Files or directories to search, relative to `cwd` or absolute. */
  readonly paths: readonly string[];
  /** Character that ends each record. */
  readonly separator: '\n' | '\0';
  /** Returns how the program runs confined. Absent when it runs plainly. */
  readonly confine?: ((argv: readonly string[]) => ConfinedProgram) | undefined;
  /** Called with each record. @returns false when no more records are needed */
  readonly onRecord: (record: string) => boolean;
}

interface ConfinedProgram {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Data for descriptor 4. */
  readonly input?: Uint8Array;
  /** Called once at the end. */
  release(): unknown;
}

export interface RipgrepEnd extends Pick<ProcessEnd, 'ended'> {
  /** 0: found, 1: nothing found, 2: errors. Undefined when ripgrep was killed. */
  readonly exitCode: number | undefined;
  readonly errors: string;
}

/** @throws MiniCcError `RIPGREP` when ripgrep cannot be started */
export async function runRipgrep(
  run: RipgrepRun,
  {
    workspace,
    signal,
  }: {readonly workspace: {readonly env: Readonly<Record<string, string>>}; readonly signal: AbortSignal},
): Promise<RipgrepEnd> {
  const isHostile = listIgnoreFiles(run).some((file) => explainSkipped(file, MAX_IGNORE_BYTES) !== undefined);
  const options = [...COMMON, ...(isHostile ? ['--no-ignore'] : []), ...run.args, ...NOT_GIT, ...NOT_KEYS];
  const argv = [await getRipgrepPath(), ...options, '--', ...run.paths];
  const [file = '', ...args] = argv;
  const program: ConfinedProgram = run.confine?.(argv) ?? {file, args, env: workspace.env, release: () => undefined};
  try {
    return await readRecords(run, program, signal);
  } finally {
    program.release();
  }
}

async function readRecords(run: RipgrepRun, program: ConfinedProgram, signal: AbortSignal): Promise<RipgrepEnd> {
  const {file, args, env, input} = program;
  const {child, end} = await startProcess(file, args, {
    cwd: run.cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'ignore', input ? 'pipe' : 'ignore'],
    limitMs: SEARCH_LIMIT_MS,
    signal,
    killSignal: 'SIGKILL',
  });
  if (input) {
    const stream = child.stdio[4] as Writable;
    // A program that ends without reading its input reports the reason itself.
    stream.on('error', () => undefined).end(input);
  }
  let errors = '';
  let rest = '';
  let isDone = false;
  const decoder = new StringDecoder('utf8');
  child.stdout?.on('data', (chunk: Buffer) => {
    const records = (rest + decoder.write(chunk)).split(run.separator);
    rest = records.pop() as string;
    isDone ||= signal.aborted || !records.every(run.onRecord);
    if (isDone) child.kill('SIGKILL');
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    if (errors.length < MAX_STDERR_CHARS) errors += chunk.toString('utf8');
  });
  const watching = new AbortController();
  let stuckAt: string | undefined;
  const timer = setTimeout(async () => {
    const places = run.paths.map((place) => path.resolve(run.cwd, place));
    stuckAt = await findHostileFile(places, READ_BY_SEARCHES, watching.signal);
    if (stuckAt !== undefined) child.kill('SIGKILL');
  }, SUSPICIOUS_MS);
  const {ended, exitCode, message} = await end;
  clearTimeout(timer);
  watching.abort();
  if (stuckAt !== undefined) return {ended: 'exit', exitCode: 2, errors: `${stuckAt}: the search stopped there`};
  if (ended === 'start') throw new MiniCcError('RIPGREP', `Could not start ripgrep: ${message}`);
  // The sandbox itself did not start, e.g. since a folder that it shows was moved meanwhile.
  if (errors.startsWith('bwrap: ')) throw new MiniCcError('RIPGREP', `The search did not run: ${errors.trim()}`);
  return {ended, exitCode, errors};
}

/** The package throws when it has no binary for this platform. */
export async function getRipgrepPath(): Promise<string> {
  try {
    const {rgPath} = await import('@vscode/ripgrep');
    return rgPath;
  } catch (error) {
    throw new MiniCcError('RIPGREP', `ripgrep is missing; run npm install: ${getErrorMessage(error)}`, {cause: error});
  }
}
