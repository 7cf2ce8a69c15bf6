/**
 * Starts programs. No other module does: execa, which is loaded at the first start since start-up time is measured.
 * A program gets exactly the environment that its caller names. One that is at work goes on when mini-cc exits, unless
 * its caller sees to its end.
 */
import {type ChildProcess, execFileSync} from 'node:child_process';
import type {Result} from 'execa';

export interface ProcessOptions {
  readonly cwd?: string | undefined;
  /** The whole environment. Default: that of mini-cc. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Milliseconds until it is ended; none by default. */
  readonly limitMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** What ends it at its limit or on abort. Default: SIGTERM, and SIGKILL five seconds later. */
  readonly killSignal?: NodeJS.Signals | undefined;
}

export interface ProcessEnd {
  /**
   * `exit` with an exit code, `signal` by a signal of somebody else, at its `limit`, by `abort`, because its `output` was
   * larger than allowed; `start`: it was never started.
   */
  readonly ended: 'exit' | 'signal' | 'limit' | 'abort' | 'output' | 'start';
  /** Undefined when it did not exit by itself. */
  readonly exitCode: number | undefined;
  /** The code of the system's error when it was not started, such as `ENOENT` or `E2BIG`. */
  readonly code: string | undefined;
  /** One line that says why it failed; empty after exit code 0. */
  readonly message: string;
}

export interface ProgramOptions extends ProcessOptions {
  /** Written to standard input, which is empty by default. */
  readonly input?: string | Uint8Array | undefined;
  /** Read by the program from the descriptors 3, 4, …; `undefined` leaves that one closed. */
  readonly inputs?: readonly (Uint8Array | undefined)[];
  /** Of standard output and of standard error each. Default: 100 MB. */
  readonly maxBytes?: number | undefined;
}

export interface ProgramResult extends ProcessEnd {
  /** Bytes: names and patches need not be UTF-8. */
  readonly stdout: Buffer;
  readonly stderr: string;
}

/**
 * Runs a program to its end and collects what it prints. How it ended, also badly, is in the result.
 * @throws TypeError for an argument that holds a NUL byte.
 */
export async function runProgram(
  file: string,
  args: readonly string[],
  {input = '', inputs = [], maxBytes, ...options}: ProgramOptions = {},
): Promise<ProgramResult> {
  const {execa} = await import('execa');
  const result = await execa(file, args, {
    ...execaOptions(options),
    stdio: ['pipe', 'pipe', 'pipe', ...inputs.map((bytes) => bytes ?? 'ignore')] as const,
    input,
    encoding: 'buffer',
    stripFinalNewline: false,
    ...(maxBytes !== undefined && {maxBuffer: maxBytes}),
  });
  return {...endOf(result), stdout: bytesOf(result.stdout), stderr: bytesOf(result.stderr).toString()};
}

export interface StartOptions extends ProcessOptions {
  /** For each descriptor from 0 on. */
  readonly stdio: readonly ('pipe' | 'ignore' | 'inherit')[];
  /** Makes it the leader of a process group of its own, as `detached` does, and ends that group with it. */
  readonly killDescendants?: boolean;
  readonly detached?: boolean;
  /** Ends with mini-cc, where that is not killed outright. */
  readonly endsWithMiniCc?: boolean;
}

export interface StartedProcess {
  /** Undefined when it could not be started: `end` says why. */
  readonly pid: number | undefined;
  /** Node's own handle: its streams, its `exit` event, `unref`. */
  readonly child: ChildProcess;
  /** Resolves when it has ended and its pipes are closed. Never rejects. */
  readonly end: Promise<ProcessEnd>;
}

/** Starts a program whose streams the caller handles. @throws TypeError for an argument that holds a NUL byte. */
export async function startProcess(
  file: string,
  args: readonly string[],
  {stdio, killDescendants = false, detached = false, endsWithMiniCc = false, ...options}: StartOptions,
): Promise<StartedProcess> {
  const {execa} = await import('execa');
  const started = execa(file, args, {
    ...execaOptions(options),
    stdio: stdio as ['pipe', 'pipe', 'pipe'],
    ...{killDescendants, detached, cleanup: endsWithMiniCc, buffer: false},
  });
  return {pid: started.pid, child: started.nodeChildProcess, end: started.then(endOf)};
}

/**
 * Runs a program and waits for it without giving way. Not by execa, which cannot be loaded synchronously: this is for
 * `exit` handlers and for locks.
 * @returns its standard output. @throws Node's error with a `status` when it ends with another code than 0.
 */
export function runProgramSync(file: string, args: readonly string[]): string {
  return execFileSync(file, args, {encoding: 'utf8'});
}

function execaOptions({cwd, env = process.env, limitMs, signal, killSignal}: ProcessOptions) {
  return {
    env: env as Record<string, string>,
    extendEnv: false,
    reject: false,
    cleanup: false,
    ...(cwd !== undefined && {cwd}),
    ...(limitMs !== undefined && {timeout: limitMs}),
    ...(signal !== undefined && {cancelSignal: signal}),
    ...(killSignal !== undefined && {killSignal}),
  } as const;
}

type Ended = {
  readonly [Key in keyof Pick<
    Result,
    'exitCode' | 'code' | 'timedOut' | 'isCanceled' | 'isMaxBuffer' | 'signal' | 'originalMessage' | 'shortMessage'
  >]?: Result[Key] | undefined;
};

function endOf({exitCode, code, originalMessage, shortMessage, ...result}: Ended): ProcessEnd {
  // Of a folder that is missing execa says more, on lines of its own.
  const message = originalMessage?.split('\n').at(-1) || shortMessage || '';
  const ended = howItEnded(exitCode, result);
  return {ended, exitCode: ended === 'exit' ? exitCode : undefined, code, message};
}

function howItEnded(exitCode: number | undefined, result: Ended): ProcessEnd['ended'] {
  if (result.timedOut) return 'limit';
  if (result.isCanceled) return 'abort';
  if (result.isMaxBuffer) return 'output';
  if (exitCode !== undefined) return 'exit';
  return result.signal === undefined ? 'start' : 'signal';
}

function bytesOf(output: unknown): Buffer {
  if (!(output instanceof Uint8Array)) return Buffer.alloc(0);
  return Buffer.from(output.buffer, output.byteOffset, output.byteLength);
}
