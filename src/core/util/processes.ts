/**
 * Starts programs by execa; no other module starts any. Execa is loaded at the first start, so that mini-cc starts
 * fast. A program gets exactly the environment that its caller passes, and continues when mini-cc exits, unless its
 * caller ends it. A name without a folder is a program of mini-cc's own, which is never one of a project.
 */
import {type ChildProcess, execFileSync} from 'node:child_process';
import {existsSync} from 'node:fs';
import type {Result} from 'execa';
import {findOwnProgram, NOWHERE} from './programs.ts';

interface ProcessOptions {
  readonly cwd?: string | undefined;
  /** The whole environment. Default: that of mini-cc. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Milliseconds until the program is killed. Default: no limit. */
  readonly limitMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Signal that is sent at the limit and on abort. Default: SIGTERM, and SIGKILL five seconds later. */
  readonly killSignal?: NodeJS.Signals | undefined;
}

export interface ProcessEnd {
  /**
   * `exit`: with an exit code. `signal`: by a signal that mini-cc did not send. `limit`: its time was over. `abort`: by
   * its abort signal. `output`: it printed more than allowed. `start`: it could not be started.
   */
  readonly ended: 'exit' | 'signal' | 'limit' | 'abort' | 'output' | 'start';
  /** Undefined when the program did not exit by itself. */
  readonly exitCode: number | undefined;
  /**
   * Error code of the system when the program could not be started, such as `ENOENT` or `E2BIG`. Undefined when the
   * folder in which it should run does not exist, which the system reports as if the program did not.
   */
  readonly code: string | undefined;
  /** Reason of the failure in one line; empty after exit code 0. */
  readonly message: string;
}

interface ProgramOptions extends ProcessOptions {
  /** Data for standard input. Default: empty. */
  readonly input?: string | Uint8Array | undefined;
  /** Data for the descriptors 3, 4, …; `undefined` leaves that descriptor closed. */
  readonly inputs?: readonly (Uint8Array | undefined)[];
  /** Limit for standard output and for standard error, each. Default: 100 MB. */
  readonly maxBytes?: number | undefined;
}

interface ProgramResult extends ProcessEnd {
  /** Bytes, because file names and patches need not be UTF-8. */
  readonly stdout: Buffer;
  readonly stderr: string;
}

/**
 * Runs a program to its end and collects its output. A failure is a result, not an error.
 * @throws TypeError for an argument that contains a NUL byte
 */
export async function runProgram(
  file: string,
  args: readonly string[],
  {input = '', inputs = [], maxBytes, ...options}: ProgramOptions = {},
): Promise<ProgramResult> {
  const {execa} = await import('execa');
  const program = locate(file, options.env);
  const result = await execa(program.file, args, {
    ...execaOptions({...options, env: program.env}),
    stdio: ['pipe', 'pipe', 'pipe', ...inputs.map((bytes) => bytes ?? 'ignore')] as const,
    input,
    encoding: 'buffer',
    stripFinalNewline: false,
    ...(maxBytes !== undefined && {maxBuffer: maxBytes}),
  });
  return {...toProcessEnd(result), stdout: toBuffer(result.stdout), stderr: toBuffer(result.stderr).toString()};
}

/** Loads what starts programs, so that a start that waits for it goes on before other work. */
export async function prepareToStart(): Promise<void> {
  await import('execa');
}

interface StartOptions extends ProcessOptions {
  /** Uses of the descriptors 0, 1, 2, …; a number is an open descriptor of mini-cc. */
  readonly stdio: readonly ('pipe' | 'ignore' | 'inherit' | number)[];
  /** Gives the program a process group of its own, as `detached` does, and ends the whole group with it. */
  readonly killDescendants?: boolean;
  readonly detached?: boolean;
  /** Ends the program when mini-cc exits, unless mini-cc is killed by SIGKILL. */
  readonly endsWithMiniCc?: boolean;
  /** True for a program that the user named, which is found on their whole PATH. */
  readonly isUsers?: boolean;
}

interface StartedProcess {
  /** Undefined when the program could not be started; `end` says why. */
  readonly pid: number | undefined;
  /** Node's own handle, for its streams, its `exit` event and `unref`. */
  readonly child: ChildProcess;
  /** Resolves when the program has ended and its pipes are closed. Never rejects. */
  readonly end: Promise<ProcessEnd>;
}

/** Starts a program whose streams the caller handles. @throws TypeError for an argument that contains a NUL byte */
export async function startProcess(
  file: string,
  args: readonly string[],
  {stdio, killDescendants = false, detached = false, endsWithMiniCc = false, isUsers = false, ...options}: StartOptions,
): Promise<StartedProcess> {
  const {execa} = await import('execa');
  const program = isUsers ? {file, env: options.env} : locate(file, options.env);
  const started = execa(program.file, args, {
    ...execaOptions({...options, env: program.env}),
    stdio: stdio as ['pipe', 'pipe', 'pipe'],
    killDescendants,
    detached,
    cleanup: endsWithMiniCc,
    buffer: false,
  });
  return {pid: started.pid, child: started.nodeChildProcess, end: started.then(toProcessEnd)};
}

/**
 * Runs a program and blocks until it ends, for `exit` handlers and locks. It does not use execa, which cannot be loaded
 * synchronously.
 * @returns the standard output
 * @throws Node's error with a `status` when the program ends with another code than 0
 */
export function runProgramSync(file: string, args: readonly string[]): string {
  const program = locate(file);
  return execFileSync(program.file, args, {encoding: 'utf8', env: program.env});
}

/**
 * Calls the listener when this process exits. Each listener raises Node's limit of listeners, so that a program with
 * many sessions gets no warning about too many of them.
 * @returns a function that removes the listener
 */
export function onProcessExit(listener: () => void): () => void {
  const makeRoom = (change: 1 | -1) => {
    const most = process.getMaxListeners();
    // A maximum of 0 means no limit.
    if (most > 0) process.setMaxListeners(most + change);
  };
  makeRoom(1);
  process.on('exit', listener);
  return () => {
    process.off('exit', listener);
    makeRoom(-1);
  };
}

/** Finds one of mini-cc's own programs. Where there is none, the start fails as for a missing program. */
function locate(file: string, env: NonNullable<ProcessOptions['env']> = process.env) {
  if (file.includes('/')) return {file, env};
  const found = findOwnProgram(file, env.PATH);
  return found === undefined ? {file, env: {...env, PATH: NOWHERE}} : {file: found, env};
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
    | ('exitCode' | 'code' | 'cwd' | 'timedOut' | 'isCanceled' | 'isMaxBuffer' | 'signal')
    | ('originalMessage' | 'shortMessage')
  >]?: Result[Key] | undefined;
};

function toProcessEnd({exitCode, code, cwd, originalMessage, shortMessage, ...result}: Ended): ProcessEnd {
  const ended = getEndKind(exitCode, result);
  if (ended === 'start' && code === 'ENOENT' && cwd !== undefined && !existsSync(cwd)) {
    return {ended, exitCode: undefined, code: undefined, message: `the folder ${cwd} does not exist`};
  }
  // Execa puts lines of its own before the message of the system.
  const message = originalMessage?.split('\n').at(-1) || shortMessage || '';
  return {ended, exitCode: ended === 'exit' ? exitCode : undefined, code, message};
}

function getEndKind(exitCode: number | undefined, result: Ended): ProcessEnd['ended'] {
  if (result.timedOut) return 'limit';
  if (result.isCanceled) return 'abort';
  if (result.isMaxBuffer) return 'output';
  if (exitCode !== undefined) return 'exit';
  return result.signal === undefined ? 'start' : 'signal';
}

function toBuffer(output: unknown): Buffer {
  if (!(output instanceof Uint8Array)) return Buffer.alloc(0);
  return Buffer.from(output.buffer, output.byteOffset, output.byteLength);
}
