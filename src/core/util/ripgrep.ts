/** Runs ripgrep and passes on its records as they arrive. */
import {StringDecoder} from 'node:string_decoder';
import {getErrorMessage, MiniCcError} from './errors.ts';
import {type ProcessEnd, startProcess} from './processes.ts';
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

export interface RipgrepRun {
  readonly args: readonly string[];
  /** Folder in which ripgrep runs. Globs are relative to it. */
  readonly cwd: string;
  /** Files or directories to search, relative to `cwd` or absolute. */
  readonly paths: readonly string[];
  /** Character that ends each record. */
  readonly separator: '\n' | '\0';
  /** Called with each record. @returns false when no more records are needed */
  readonly onRecord: (record: string) => boolean;
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
  const args = [...COMMON, ...run.args, ...NOT_GIT, ...NOT_KEYS, '--', ...run.paths];
  const {child, end} = await startProcess(await ripgrepPath(), args, {
    cwd: run.cwd,
    env: workspace.env,
    stdio: ['ignore', 'pipe', 'pipe'],
    limitMs: SEARCH_LIMIT_MS,
    signal,
    killSignal: 'SIGKILL',
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

/** The package throws when it has no binary for this platform. */
async function ripgrepPath(): Promise<string> {
  try {
    const {rgPath} = await import('@vscode/ripgrep');
    return rgPath;
  } catch (error) {
    throw new MiniCcError('RIPGREP', `ripgrep is missing; run npm install: ${getErrorMessage(error)}`, {cause: error});
  }
}
