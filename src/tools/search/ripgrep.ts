/** Runs ripgrep and passes on its records as they arrive. */
import {realpath, stat} from 'node:fs/promises';
import {StringDecoder} from 'node:string_decoder';
import type {ToolContext} from '../../core/contract/tool.ts';
import {getErrorCode, getErrorMessage, MiniCcError} from '../../core/util/errors.ts';
import {isInside} from '../../core/util/paths.ts';
import {type ProcessEnd, startProcess} from '../../core/util/processes.ts';
import {absolutePath, archivedTranscript, assertPermitted, createNotFoundError} from '../files/paths.ts';

export const SEARCH_LIMIT_MS = 20_000;
const MAX_STDERR_CHARS = 4000;

/** Every search includes hidden files, respects `.gitignore` also outside git, and ignores the user's configuration. */
const COMMON = ['--no-config', '--no-require-git', '--hidden', '--color=never'];
/** Placed after the globs of the call, because the last glob that matches wins. */
const NOT_GIT = ['--glob', '!.git'];
/** No search reads keys, also where the workspace is a home directory. */
const NOT_KEYS = [
  '.ssh',
  '.gnupg',
  '.aws',
  '.kube',
  '.azure',
  '.docker',
  '.netrc',
  '.git-credentials',
  '.password-store',
].flatMap((name) => ['--glob', `!**/${name}`]);

export interface RipgrepRun {
  readonly args: readonly string[];
  /** Where it runs; globs are relative to it. */
  readonly cwd: string;
  /** The files or directories to search, relative to `cwd` or absolute. */
  readonly paths: readonly string[];
  /** Ends each record. */
  readonly separator: '\n' | '\0';
  /** Gets each record. @returns false when no more are needed. */
  readonly onRecord: (record: string) => boolean;
}

export interface RipgrepEnd extends Pick<ProcessEnd, 'ended'> {
  /** 0 found, 1 nothing found, 2 errors; undefined when it was ended. */
  readonly exitCode: number | undefined;
  readonly errors: string;
}

/** @throws MiniCcError `RIPGREP` when it cannot be started. */
export async function runRipgrep(
  run: RipgrepRun,
  {workspace, signal}: {readonly workspace: Pick<ToolContext['workspace'], 'env'>; readonly signal: AbortSignal},
): Promise<RipgrepEnd> {
  const args = [...COMMON, ...run.args, ...NOT_GIT, ...NOT_KEYS, '--', ...run.paths];
  const {child, end} = await startProcess(await ripgrepPath(), args, {
    ...{cwd: run.cwd, env: workspace.env, stdio: ['ignore', 'pipe', 'pipe']},
    ...{limitMs: SEARCH_LIMIT_MS, signal, killSignal: 'SIGKILL'},
  });
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
  const {ended, exitCode, message} = await end;
  if (ended === 'start') throw new MiniCcError('RIPGREP', `Could not start ripgrep: ${message}`);
  return {ended, exitCode, errors};
}

/** True when the search was ended before it had looked at everything. */
export function isCut({ended}: RipgrepEnd): boolean {
  return ended === 'limit' || ended === 'abort';
}

/** The package throws when it has no binary for this platform. */
async function ripgrepPath(): Promise<string> {
  try {
    const {rgPath} = await import('@vscode/ripgrep');
    return rgPath;
  } catch (error) {
    throw new MiniCcError('RIPGREP', `ripgrep is missing; run npm install: ${getErrorMessage(error)}`, {cause: error});
  }
}

/**
 * The absolute path to search.
 * @throws MiniCcError `NOT_FOUND` with the paths that were probably meant; `NOT_A_FILE`; `NOT_PERMITTED` when a link leads
 *   elsewhere than when the call was permitted
 */
export async function getSearchPath(path: string | undefined, context: ToolContext): Promise<string> {
  const named = absolutePath(path ?? '.', context.workspace);
  const archived = await archivedTranscript(named);
  const absolute = archived ?? named;
  try {
    const real = await realpath(absolute);
    if (archived === undefined && !isInside(real, context.places)) assertPermitted(real, context);
    const stats = await stat(absolute);
    if (stats.isFile() || stats.isDirectory()) return absolute;
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT' || getErrorCode(error) === 'ENOTDIR')
      throw await createNotFoundError(absolute, context.workspace);
    throw error;
  }
  // Reading a pipe or a device may never end.
  throw new MiniCcError('NOT_A_FILE', `${path} is neither a regular file nor a directory: it is not searched.`);
}

/** Lines for the end of a result: why the search ended early, or which part of it failed. */
export function formatSearchNotes({ended, exitCode, errors}: RipgrepEnd): string[] {
  if (ended === 'limit') {
    return [`(timed out after ${SEARCH_LIMIT_MS / 1000} s: there may be more; search a smaller part)`];
  }
  if (ended === 'abort') return ['interrupted'];
  if (exitCode !== 2) return [];
  const [first = '', ...more] = errors.trim().split('\n');
  return [`(not all could be searched: ${first}${more.length > 0 ? `, and ${more.length} more` : ''})`];
}
