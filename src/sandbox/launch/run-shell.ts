/**
 * Runs one command of a shell and reports its output as it comes, its exit code, and the directory in which it ended.
 * Commands of settings, such as hooks, run to their end with an input instead.
 */
import {isUtf8} from 'node:buffer';
import {closeSync} from 'node:fs';
import type {Socket} from 'node:net';
import {constants, totalmem} from 'node:os';
import type {Duplex, Readable, Writable} from 'node:stream';
import {StringDecoder} from 'node:string_decoder';
import {setTimeout as delay, setImmediate as nextTurn} from 'node:timers/promises';
import {inBackground, neverRejects} from '../../core/util/background.ts';
import {MiniCcError} from '../../core/util/errors.ts';
import {NO_DESCRIPTORS} from '../../core/util/files/disk-fault.ts';
import {startProcess} from '../../core/util/processes.ts';
import {findOwnProgram} from '../../core/util/programs.ts';
import {isRunning, type ProcessGroups, withMark} from './process-groups.ts';
import {
  COMMAND,
  type Exit,
  type MarkedStart,
  NOT_STARTED,
  type ShellProcess,
  type ShellStart,
} from './shell-process.ts';

/**
 * The code around the command. Standard error joins standard output, so that their order is kept. The cwd is written to
 * descriptor 3, which is moved so that commands can use 3, but below 32, because some limit their descriptors to that.
 * A trap reports the cwd, for `exit` and `set -e`, and the end of the code reports it again, for commands with an EXIT
 * trap of their own. A NUL ends each report, since a name may contain line breaks.
 *
 * The command is an argument, so that it is parsed separately from this code. A shell that was started ahead has no
 * argument, and reads the command from a descriptor, to a NUL. It is put into the variable in which `bash -c` has it. The
 * code is one line: after a syntax error within `eval`, bash would parse a further line as if it
 * were part of the command, and `eval` counts lines from the one that it is on.
 *
 * Where the code came to its end and left nothing in the background, the trap reports the exit code, too.
 *
 * The blank at the start tests whether mini-cc still runs. Bubblewrap ends its command together with mini-cc only once
 * it has started up itself, so when mini-cc is killed before that, the command would continue.
 */
const REPORT = 'builtin pwd -P >&29; builtin printf "\\0" >&29';
const WRAPPER = [
  'exec 2>&1 29>&3 3>&-',
  `if [ $# = 0 ]; then IFS= builtin read -rd "" -u ${COMMAND} BASH_EXECUTION_STRING || exit 141; exec ${COMMAND}<&-; SECONDS=0; else BASH_EXECUTION_STRING=$1; shift; fi`,
  "builtin printf ' ' >&29 2>/dev/null || exit 141",
  `trap '{ ${REPORT}; [ "$2" != at-its-end ] || builtin printf "=%s\\0" "$1" >&29; } 2>/dev/null' EXIT`,
  'eval "$BASH_EXECUTION_STRING"',
  `{ builtin set +vx -- $? "\${!:-at-its-end}"; ${REPORT}; } 2>/dev/null; builtin exit $1`,
].join('; ');

/** Bytes of memory for each process of a command that runs without a question to the person. */
export const MAX_MEMORY = Math.min(4 * 1024 ** 3, totalmem() / 2);
export const MAX_PROCESSES = 1000;
/**
 * The limit of memory is that of data, since V8 reserves addresses that it never uses. The kernel counts the processes of
 * a sandbox by themselves, and outside of it all of the user; for root it counts none.
 */
const LIMIT_MEMORY = `ulimit -d ${Math.floor(MAX_MEMORY / 1024)} 2>/dev/null; `;
const LIMIT_PROCESSES = `ulimit -u ${MAX_PROCESSES} 2>/dev/null; `;

interface ShellOptions {
  /** PATH of the command. Its first bash may be one of the project. */
  readonly searchPath?: string | undefined;
  readonly bounds?: 'memory' | 'memory and processes' | undefined;
}

export function getShellArguments(command: string, {searchPath, bounds}: ShellOptions = {}): readonly string[] {
  const limits = `${bounds ? LIMIT_MEMORY : ''}${bounds === 'memory and processes' ? LIMIT_PROCESSES : ''}`;
  return [findOwnProgram('bash', searchPath) ?? '/bin/bash', '-c', limits + WRAPPER, 'bash', command];
}

const WHY_NOT_STARTED: Readonly<Record<string, string>> = {
  E2BIG: 'the command is too long: put it into a file',
  EMFILE: NO_DESCRIPTORS,
};

/** Milliseconds for output after the shell has ended, because processes in the background hold the pipe open. */
const GRACE_MS = 150;
/** Milliseconds between two looks at a shell whose pipe is closed. */
const LOST_MS = 500;
/** Milliseconds in which a sandbox may end after its command. */
const SANDBOX_MS = 1_000;
/** Milliseconds in which Node may notice a kill. */
const KILL_NOTICE_MS = 100;

export interface ShellRun extends ShellStart {
  /** A shell that has got the command. Absent: one is started. */
  readonly started?: ShellProcess | undefined;
  /** Whether it can change files of the workspace, or put links there. */
  readonly mayWrite?: boolean;
  /** True when nothing of it can have an effect after the command: the end of its sandbox is not waited for. */
  readonly endsAtReport?: boolean;
  /** Undefined means no limit. */
  readonly timeoutMs: number | undefined;
  /** Gets a function that takes the limit of time away. */
  readonly onTimed?: ((lift: () => void) => void) | undefined;
  readonly signal: AbortSignal;
  /** When true, a later abort of `signal` does not end processes in the background; they end with mini-cc. */
  readonly outlivesSignal?: boolean;
  readonly processes: ProcessGroups;
  readonly onText: (text: string) => void;
}

export interface ShellEnd {
  readonly ended: 'itself' | 'timeout' | 'abort';
  /** False when the shell ended before it began the command. */
  readonly hasBegun: boolean;
  /** Exit code as shells count it: 128 plus the signal's number for a killed command. */
  readonly exitCode: number;
  readonly killedBy?: NodeJS.Signals;
  /** Absent when the shell could not report it: after `exec`, a kill, or `exit` with an EXIT trap of its own. */
  readonly cwd?: string;
  /** The reason, in words, why no later command can start in the shell's directory. `cwd` is absent then. */
  readonly lostCwd?: string;
}

/** @throws MiniCcError `SPAWN` when the program cannot be started. Every later failure is a `ShellEnd`. */
export async function runShell(run: ShellRun): Promise<ShellEnd> {
  const end = await followShell(run, run.started ?? (await startForRun(run)));
  // Node says why it cannot start it either.
  return end.hasBegun || !end.hasFailed ? end : followShell(run, await startForRun({...run, starter: undefined}));
}

async function followShell(
  run: ShellRun,
  {pid, env, report, exited, handles, ...started}: ShellProcess,
): Promise<ShellEnd & {readonly hasFailed: boolean}> {
  run.processes.add(pid, env);
  const output = started.output.map((stream) => listenToText(stream, run.onText));
  let reported = Buffer.alloc(0);
  let saidCwd = (): void => undefined;
  const cwdKnown = new Promise<void>((resolve) => {
    saidCwd = resolve;
  });
  const {promise: exitReported, resolve: onExitReport} = Promise.withResolvers<Exit>();
  const cwdStream = listen(report, (bytes) => {
    reported = Buffer.concat([reported, bytes]);
    if (reported.includes(0)) saidCwd();
    const code = run.endsAtReport ? parseExitCode(reported) : undefined;
    if (code !== undefined) onExitReport({code, signal: null});
  });
  const {cut, release} = cutOff(run);
  const lost = watchForLostExit(pid, cwdStream.ended);
  const itsEnd = Promise.race([exited, exitReported, lost.exit]).then(({code, signal}) =>
    (code ?? signal) === null ? ('lost' as const) : ('itself' as const),
  );
  const how = await Promise.race([itsEnd, cut]);
  lost.release();
  release();
  if (how !== 'itself') {
    await run.processes.end(pid);
    await Promise.race([exited, delay(KILL_NOTICE_MS)]);
  }
  // A process in the background also holds the pipe for the cwd, even when its output goes elsewhere.
  const isDrained = drained([...output.map((stream) => stream.ended), Promise.race([cwdKnown, cwdStream.ended])]);
  // What the command wrote before its report is ready to be read together with the report.
  await Promise.race([
    isDrained,
    ...(how === 'itself' ? [exitReported.then(() => nextTurn()).then(() => nextTurn())] : []),
  ]);
  const left = run.processes.leave(pid, run.outlivesSignal ? undefined : run.signal);
  for (const stream of [...output, cwdStream]) stream.release(left);
  if (left) for (const handle of handles) handle.unref();
  if (left && run.endsAtReport) inBackground(endSandbox(pid, exited, run.processes), neverRejects);
  const known = {code: how === 'lost' ? (parseExitCode(reported) ?? null) : null, signal: null};
  const exit = await Promise.race([exited, exitReported, known]);
  const {exitCode, killedBy} = toExit(exit, reported);
  const ended = how === 'lost' ? 'itself' : how;
  const hasFailed = ended === 'itself' && reported.toString('latin1') === NOT_STARTED;
  const hasBegun = reported.length > 0 && !hasFailed;
  return {ended, hasBegun, hasFailed, exitCode, ...(killedBy && {killedBy}), ...parseCwd(reported)};
}

/**
 * Looks for the end of a shell whose pipe is closed. The process that waits for the exit of the shell may have been
 * killed, e.g. by a command that kills its parent.
 */
function watchForLostExit(pid: number, closed: Promise<void>): {exit: Promise<Exit>; release: () => void} {
  const {promise: exit, resolve} = Promise.withResolvers<Exit>();
  let timer: NodeJS.Timeout | undefined;
  let isReleased = false;
  const look = () => {
    if (isReleased) return;
    timer = setTimeout(() => (isRunning(pid) ? look() : resolve({code: null, signal: null})), LOST_MS).unref();
  };
  inBackground(closed.then(look), neverRejects);
  const release = () => {
    isReleased = true;
    clearTimeout(timer);
  };
  return {exit, release};
}

/**
 * Ends the processes of a sandbox. They end with its command by themselves, unless the command reported its end too
 * early.
 */
async function endSandbox(pid: number, exited: Promise<Exit>, processes: ProcessGroups): Promise<void> {
  await Promise.race([exited, delay(SANDBOX_MS, undefined, {ref: false})]);
  if (processes.leave(pid, undefined)) await processes.end(pid);
}

/** @param more use of descriptor 6. @throws MiniCcError `SPAWN` when the program cannot be started */
export async function startForRun(
  run: Pick<ShellRun, keyof ShellStart | 'mayWrite' | 'processes'>,
  more?: 'pipe',
): Promise<ShellProcess> {
  const env = withMark(run.env);
  if (run.mayWrite) await run.processes.addWriter(env);
  try {
    return await startShell({...run, env}, more);
  } catch (error) {
    run.processes.removeWriter(env);
    throw error;
  }
}

/**
 * @param more use of descriptor 6
 * @throws MiniCcError `SPAWN` when the program cannot be started
 */
export async function startShell(run: MarkedStart, more: 'pipe' | 'ignore' = 'ignore'): Promise<ShellProcess> {
  return (await run.starter?.start(run, more === 'pipe')) ?? startByNode(run, more);
}

async function startByNode(run: MarkedStart, more: 'pipe' | 'ignore'): Promise<ShellProcess> {
  const [pipe] = (await run.starter?.pipes.take(1)) ?? [];
  let writer: number | undefined;
  let started: Awaited<ReturnType<typeof startProcess>> | undefined;
  try {
    writer = pipe?.openWriter();
    const to = writer ?? 'pipe';
    started = await startProcess(run.file, run.args, {
      cwd: run.cwd,
      env: run.env,
      stdio: ['ignore', to, to, 'pipe', run.input ? 'pipe' : 'ignore', run.link ? 'pipe' : 'ignore', more],
      // Makes it the leader of its own group. `ProcessGroups` ends it, and also finds processes that left the group.
      killDescendants: true,
    });
  } finally {
    if (writer !== undefined) closeSync(writer);
    if (started?.pid === undefined) pipe?.close();
  }
  const {pid, child, end} = started;
  if (pid === undefined) {
    const {code, message} = await end;
    throw new MiniCcError('SPAWN', `Could not start ${run.file}: ${WHY_NOT_STARTED[code ?? ''] ?? message}`);
  }
  const [, , , report, inner, link, input] = child.stdio as unknown as Socket[];
  run.link?.(link as Duplex);
  if (run.input) send(inner!, run.input);
  // A shell that was killed closes its end.
  input?.on('error', () => undefined);
  const output = pipe ? [pipe.listen()] : ([child.stdout, child.stderr] as unknown as readonly Readable[]);
  return {
    pid,
    env: run.env,
    output,
    report: report!,
    exited: new Promise((resolve) => child.once('exit', (code, signal) => resolve({code, signal}))),
    ...(input && {input: {give: (command: string) => send(input, `${command}\0`), close: () => input.destroy()}}),
    handles: [child, ...(input ? [input] : []), ...(output as readonly Socket[]), report!],
  };
}

/** At these signals a shell still runs its EXIT trap. */
const LATE_SIGNALS: readonly string[] = ['SIGHUP', 'SIGTERM'];

/**
 * A killed shell has exit code 128 plus the signal's number. It has not reported its directory, except after
 * `LATE_SIGNALS`.
 */
function toExit({code, signal}: Exit, reported: Buffer): Pick<ShellEnd, 'exitCode' | 'killedBy'> {
  if (code === null) {
    const killedBy = signal ?? 'SIGKILL';
    return {exitCode: 128 + constants.signals[killedBy], killedBy};
  }
  const names = Object.keys(constants.signals) as NodeJS.Signals[];
  const killedBy = names.find((name) => constants.signals[name] === code - 128);
  const wasKilled = killedBy && (!reported.includes(0) || LATE_SIGNALS.includes(killedBy));
  return {exitCode: code, ...(wasKilled && {killedBy})};
}

/** Matches the report of the exit code, with the end of the report before it. */
const EXIT_CODE = /\0=(\d{1,3})\0$/;

function parseExitCode(reported: Buffer): number | undefined {
  const [, code] = EXIT_CODE.exec(reported.toString('latin1')) ?? [];
  return code === undefined ? undefined : Number(code);
}

/**
 * @param reported data from the wrapper: a blank at the start, then any number of reports of the cwd, of which the last one
 *   counts
 */
function parseCwd(reported: Buffer): Pick<ShellEnd, 'cwd' | 'lostCwd'> {
  const end = reported.lastIndexOf(0, EXIT_CODE.exec(reported.toString('latin1'))?.index);
  if (end === -1) return {};
  const start = end === 0 ? -1 : reported.lastIndexOf(0, end - 1);
  // `pwd` ends the name with a line break, and prints nothing when the directory was removed.
  const line = reported.subarray(start === -1 ? 1 : start + 1, end);
  if (line.length === 0) return {lostCwd: "the command's directory no longer exists"};
  const name = line.subarray(0, -1);
  return isUtf8(name) ? {cwd: name.toString()} : {lostCwd: "the name of the command's directory is not UTF-8"};
}

/** Ignores errors, because a program that ends without reading its input reports the reason itself. */
export function send(stream: Writable, input: string | Uint8Array): void {
  stream.on('error', () => undefined);
  stream.end(input);
}

interface Listened {
  readonly ended: Promise<void>;
  /**
   * Stops listening. Data in a pipe that a background process still holds is discarded, or that process would block or
   * fail.
   */
  release(keepOpen: boolean): void;
}

/** Joins characters that arrive in pieces. */
function listenToText(stream: Readable, onText: (text: string) => void): Listened {
  const decoder = new StringDecoder('utf8');
  const listened = listen(stream, (bytes) => onText(decoder.write(bytes)));
  return {
    ended: listened.ended,
    release(keepOpen) {
      const rest = decoder.end();
      if (rest !== '') onText(rest);
      listened.release(keepOpen);
    },
  };
}

function listen(stream: Readable & {unref?: () => void}, onData: (bytes: Buffer) => void): Listened {
  stream.on('data', onData);
  const ended = new Promise<void>((resolve) => stream.once('close', resolve));
  return {
    ended,
    release(keepOpen) {
      stream.off('data', onData);
      if (keepOpen) {
        stream.resume();
        stream.unref?.();
      } else {
        stream.destroy();
      }
    },
  };
}

function cutOff({
  signal,
  timeoutMs,
  onTimed,
}: Pick<ShellRun, 'timeoutMs' | 'onTimed'> & {readonly signal?: AbortSignal | undefined}): {
  cut: Promise<'timeout' | 'abort'>;
  release: () => void;
} {
  let release = (): void => undefined;
  const cut = new Promise<'timeout' | 'abort'>((resolve) => {
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => resolve('timeout'), timeoutMs);
    const onAbort = (): void => resolve('abort');
    onTimed?.(() => clearTimeout(timer));
    signal?.addEventListener('abort', onAbort, {once: true});
    release = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    };
    if (signal?.aborted) onAbort();
  });
  return {cut, release};
}

/** Waits for the end of the streams, at most for the grace period, and then once more for data that is ready. */
async function drained(ends: readonly Promise<void>[]): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const grace = new Promise<void>((resolve) => {
    timer = setTimeout(() => setImmediate(resolve), GRACE_MS);
  });
  await Promise.race([Promise.all(ends), grace]);
  clearTimeout(timer);
}

interface CollectedRun {
  readonly command: string;
  readonly cwd: string;
  /** The whole environment; nothing of mini-cc's own environment is added. */
  readonly env: Readonly<Record<string, string>>;
  readonly input: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly processes: ProcessGroups;
  /** Gets all of standard output so far, whenever more of it comes. */
  readonly onStdout?: (text: string) => void;
}

interface CollectedEnd {
  readonly ended: 'itself' | 'timeout' | 'abort' | 'start';
  /** Undefined when the command did not exit by itself. */
  readonly exitCode: number | undefined;
  /** At most `MAX_CHARS` characters. */
  readonly stdout: string;
  readonly stderr: string;
}

/** Limit for each output in characters. The rest is left out. */
const MAX_CHARS = 1_000_000;
/**
 * Runs a command of the user's settings in bash, with an input, and collects its two outputs separately. Its whole
 * process group ends with it, at the time limit, and on abort. Never rejects.
 */
export async function runCollected({command, cwd, input, ...run}: CollectedRun): Promise<CollectedEnd> {
  const {processes} = run;
  const env = withMark(run.env);
  const {pid, child, end} = await startProcess('bash', ['-c', command], {
    cwd,
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
    killDescendants: true,
  });
  if (pid === undefined) {
    const {message} = await end;
    return {ended: 'start', exitCode: undefined, stdout: '', stderr: message};
  }
  processes.add(pid, env);
  const outputs = [child.stdout, child.stderr].map((stream) =>
    collect(stream as Readable, stream === child.stdout ? run.onStdout : undefined),
  );
  send(child.stdin as Writable, input);
  const exited = new Promise<number | undefined>((resolve) => child.once('exit', (code) => resolve(code ?? undefined)));
  const {cut, release} = cutOff(run);
  const ended = await Promise.race([exited.then(() => 'itself' as const), cut]);
  release();
  if (ended !== 'itself') await processes.end(pid);
  await drained(outputs.map((output) => output.ended));
  await processes.end(pid);
  const [stdout = '', stderr = ''] = outputs.map((output) => output.take());
  return {ended, exitCode: ended === 'itself' ? await exited : undefined, stdout, stderr};
}

function collect(stream: Readable, onText?: (text: string) => void) {
  let text = '';
  const {ended, release} = listenToText(stream, (piece) => {
    if (text.length < MAX_CHARS) text += piece;
    onText?.(text);
  });
  return {
    ended,
    take() {
      release(false);
      return text.slice(0, MAX_CHARS);
    },
  };
}
