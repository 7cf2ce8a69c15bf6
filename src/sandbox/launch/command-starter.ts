/**
 * Starts commands from a small shell beside mini-cc. Node forks to start a program, and a fork copies the page tables of
 * all memory that was written: milliseconds in a process of 100 MB, in which nothing else happens. The shell has 4 MB.
 * On Linux: on macOS, Node starts programs by `posix_spawn`, which copies nothing.
 *
 * For each command the shell gets the name of a file to read, with environment, folder and arguments quoted. It answers
 * with the command's process id, and later with its exit code. Output comes through named pipes, made ahead and removed
 * once the command has them. Each command leads a process group of its own, as it does when Node starts it. What the
 * shell could not pass on exactly as it is, Node starts.
 */
import type {ChildProcess} from 'node:child_process';
import {closeSync, constants, mkdirSync, openSync, unlinkSync, writeFileSync} from 'node:fs';
import {Socket} from 'node:net';
import type {Readable} from 'node:stream';
import {getErrorCode, MiniCcError} from '../../core/util/errors.ts';
import {startProcess} from '../../core/util/processes.ts';
import type {SessionFolder} from '../view/session-folder.ts';

export interface StartRequest {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** What the program reads from descriptor 4. */
  readonly input?: Uint8Array | undefined;
  /** It talks over descriptor 5. */
  readonly link?: unknown;
}

export interface StartedCommand {
  readonly pid: number;
  /** Standard output and standard error. */
  readonly output: readonly Readable[];
  /** What comes from descriptor 3. */
  readonly report: Readable;
  /** A killed command has a signal, or 128 and its number as the code. Both are null where it is not known. */
  readonly exited: Promise<{readonly code: number | null; readonly signal: NodeJS.Signals | null}>;
  /** What it left in the background does not keep mini-cc at work. */
  readonly unref: () => void;
}

/** What comes first from descriptor 3 when the shell could not start the command. */
export const NOT_STARTED = 'F';

/** Reads the files named on its input. At the end of mini-cc it takes along what only waits for a command. */
const SCRIPT = 'unset PATH; while IFS= read -r file; do . "$file" & done; kill -KILL 0';
/** Named pipes that are made at once, two for each command; more are made when few are left. */
const PIPES = 48;
const FEW_PIPES = 24;
/** How long the shell may take to answer, in milliseconds. Longer: it was stopped. */
const ANSWER_MS = 30_000;
/** Characters. Longer ones are left to Node, whose error says that they are too long. */
const MAX_ARGUMENTS = 100_000;
/** Variables that bash has or uses itself. */
const OWN_NAMES =
  /^(?:BASH.*|COMP_.*|EPOCH.*|[EU]?UID|S?RANDOM|FUNC.*|DIRSTACK|GROUPS|HISTCMD|IFS|LINENO|OPTIND|POSIXLY_CORRECT|PPID|SECONDS|SHELLOPTS)$/;

interface Waiting {
  readonly onStart: (pid: number | undefined) => void;
  readonly onExit: (code: number | null) => void;
}

interface Shell {
  readonly child: ChildProcess;
  readonly input: Socket;
  readonly answers: Socket;
}

export class CommandStarter {
  /** By the number of the command. */
  readonly #waiting = new Map<string, Waiting>();
  /** Files with what commands read from descriptor 4. */
  readonly #inputs = new Map<Uint8Array, string>();
  readonly #pipes: string[] = [];
  /** Those that the shell is making. */
  #nextPipes: {readonly names: readonly string[]; readonly file: string} | undefined;
  #state: 'none' | 'opening' | 'open' | 'closed' = 'none';
  #shell: Shell | undefined;
  #asked = 0;
  #files = 0;

  constructor(private readonly folder: Pick<SessionFolder, 'getFile' | 'onClose'>) {}

  /**
   * Starts a command. The first one of a session is left to Node: it may be the only one.
   * @returns undefined when it cannot start this one, and nothing was run
   * @throws MiniCcError `SPAWN` when the shell ended meanwhile, so that it is not known whether the command ran
   */
  async start(request: StartRequest): Promise<StartedCommand | undefined> {
    this.#asked += 1;
    if (this.#asked > 1 && this.#state === 'none') void this.#open();
    if (this.#state !== 'open' || this.#pipes.length < 2 || !canPassOn(request)) return undefined;
    const id = String(this.#asked);
    const pipes = openPipes(this.#pipes.splice(0, 2));
    const input = request.input && this.#getInput(request.input);
    const file = pipes && this.#write(`command-${id}`, formatCommand(id, request, pipes.names, input));
    if (!file) {
      pipes?.close();
      this.#close();
      return undefined;
    }
    let onExit: Waiting['onExit'] = () => undefined;
    const exited = new Promise<number | null>((resolve) => {
      onExit = resolve;
    });
    const pid = await this.#ask(id, file, onExit);
    remove([file, ...pipes.names]);
    if (this.#pipes.length < FEW_PIPES) this.#makePipes();
    if (pid === undefined) {
      pipes.close();
      throw new MiniCcError(
        'SPAWN',
        'The shell that starts commands was killed. It is not known whether this one ran.',
      );
    }
    const [output, report] = pipes.listen();
    return {
      pid,
      output: [output],
      report,
      exited: exited.then((code) => ({code, signal: null})),
      unref: () => undefined,
    };
  }

  #ask(id: string, file: string, onExit: Waiting['onExit']): Promise<number | undefined> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#close(), ANSWER_MS);
      const onStart = (pid: number | undefined) => {
        clearTimeout(timer);
        resolve(pid);
      };
      this.#waiting.set(id, {onStart, onExit});
      this.#shell?.answers.ref();
      this.#shell?.input.write(`${file}\n`);
    });
  }

  async #open(): Promise<void> {
    this.#state = 'opening';
    mkdirSync(this.folder.getFile('commands'), {mode: 0o700, recursive: true});
    this.folder.onClose(() => this.#close());
    // Without `--norc`, a shell whose input is a socket reads the user's settings.
    const {pid, child} = await startProcess('bash', ['--norc', '-p', '-c', SCRIPT], {
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
      cwd: '/',
      env: {PATH: process.env.PATH},
    });
    if (pid === undefined) return this.#close();
    const [input, answers] = [child.stdin, child.stdout] as unknown as [Socket, Socket];
    this.#shell = {child, input, answers};
    for (const handle of [child, input, answers]) handle.unref();
    for (const stream of [input, answers]) stream.on('error', () => undefined).on('close', () => this.#close());
    let rest = '';
    answers.setEncoding('latin1').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop()!;
      for (const line of lines) this.#take(line);
    });
    if (this.#state === 'opening') this.#makePipes();
    else this.#end();
  }

  /** Of the shell: `7 started 4711`, `7 ended 0`, `pipes made`; `pipes failed` where the file system has none. */
  #take(line: string): void {
    const [id = '', what, value] = line.split(' ');
    const waiting = this.#waiting.get(id);
    if (what === 'made' && this.#nextPipes) {
      const {names, file} = this.#nextPipes;
      this.#nextPipes = undefined;
      this.#pipes.push(...names);
      remove([file]);
      if (this.#state === 'opening') this.#state = 'open';
    } else if (what === 'failed') this.#close();
    else if (what === 'started') waiting?.onStart(Number(value));
    else if (what === 'ended') {
      waiting?.onExit(Number(value));
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) this.#shell?.answers.unref();
    }
  }

  #makePipes(): void {
    if (this.#nextPipes) return;
    this.#files += 1;
    const names = Array.from({length: PIPES}, (_, index) =>
      this.folder.getFile(`commands/pipe-${this.#files}-${index}`),
    );
    const list = names.map(quote).join(' ');
    const file = this.#write(
      `pipes-${this.#files}`,
      `command -p mkfifo -m 600 -- ${list} && builtin printf 'pipes made\\n' || builtin printf 'pipes failed\\n'\n`,
    );
    if (!file) {
      this.#close();
      return;
    }
    this.#nextPipes = {names, file};
    this.#shell?.input.write(`${file}\n`);
  }

  /** @returns the path of the file; undefined when it could not be written */
  #write(name: string, text: string | Uint8Array): string | undefined {
    const file = this.folder.getFile(`commands/${name}`);
    try {
      writeFileSync(file, text, {mode: 0o600});
      return file;
    } catch (error) {
      if (getErrorCode(error) === undefined) throw error;
      return undefined;
    }
  }

  #getInput(input: Uint8Array): string | undefined {
    const file = this.#inputs.get(input) ?? this.#write(`input-${this.#inputs.size}`, input);
    if (file !== undefined) this.#inputs.set(input, file);
    return file;
  }

  /** From now on Node starts all commands. The exit codes of those that run are lost: `runShell` ends them. */
  #close(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#end();
    for (const {onStart, onExit} of this.#waiting.values()) {
      onStart(undefined);
      onExit(null);
    }
    this.#waiting.clear();
  }

  /** The shell ends with all that waits in it to start a command. */
  #end(): void {
    if (!this.#shell) return;
    const {child, input, answers} = this.#shell;
    input.destroy();
    answers.destroy();
    if (child.exitCode !== null || child.signalCode !== null) return;
    try {
      process.kill(-child.pid!, 'SIGKILL');
    } catch (error) {
      if (getErrorCode(error) !== 'ESRCH') throw error;
    }
  }
}

/** Whether the command gets from the shell all that it was to have, as it is. */
function canPassOn({args, cwd, env, link}: StartRequest): boolean {
  if (link !== undefined || env.PATH === undefined) return false;
  if (!Object.keys(env).every((name) => /^[A-Za-z_]\w*$/.test(name) && !OWN_NAMES.test(name))) return false;
  const texts = [...args, cwd, ...Object.values(env)];
  // Bash leaves NUL out: it would run another command than the one that was judged. Node refuses it.
  return (
    !texts.some((text) => text.includes('\0')) && texts.reduce((sum, {length}) => sum + length, 0) <= MAX_ARGUMENTS
  );
}

/** What the shell reads: it starts the command in a group of its own, says its process id, waits, and says its exit code. */
function formatCommand(
  id: string,
  {file, args, cwd, env: {SHLVL, PWD, OLDPWD, _, ...env}}: StartRequest,
  pipes: readonly string[],
  input: string | undefined,
): string {
  const [output = '', report = ''] = pipes.map(quote);
  const words = [file, ...args].map(quote).join(' ');
  // `exec` counts down the level of shells.
  const level = SHLVL !== undefined && /^\d{1,4}$/.test(SHLVL) ? String(Number(SHLVL) + 1) : undefined;
  const start = [
    // Not run where `exec` succeeds.
    `trap 'builtin printf ${NOT_STARTED} >&3' EXIT; unset SHLVL`,
    ...Object.entries({...env, SHLVL: level}).map(setVariable),
    `cd -P -- ${quote(cwd)}`,
    // `cd` has set both.
    ...Object.entries({PWD, OLDPWD}).map(setVariable),
    `exec ${words} 2>&1`,
  ].join(' && ');
  const inputs = `</dev/null${input === undefined ? '' : ` 4<${quote(input)}`}`;
  return [
    'set -m',
    `{ { ${start}; } ${inputs} & } >${output} 3>${report}`,
    `builtin printf '${id} started %s\\n' "$!"`,
    // With job control, `wait` would also return when the command is stopped.
    'set +m; wait "$!"',
    `builtin printf '${id} ended %s\\n' "$?"`,
    '',
  ].join('\n');
}

function setVariable([name, value]: readonly [string, string | undefined]): string {
  return value === undefined ? `unset ${name}` : `export ${name}=${quote(value)}`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

interface Pipes {
  readonly names: readonly string[];
  /** To be called when the command has opened them: before that, they would look closed. */
  readonly listen: () => readonly [Readable, Readable];
  readonly close: () => void;
}

/** Opens named pipes for reading, without waiting for who writes. Undefined when they are not there, or no descriptor is free. */
function openPipes(names: readonly string[]): Pipes | undefined {
  const open: number[] = [];
  const close = () => open.forEach(closeSync);
  try {
    for (const name of names) open.push(openSync(name, constants.O_RDONLY | constants.O_NONBLOCK));
  } catch (error) {
    close();
    if (getErrorCode(error) === undefined) throw error;
    return undefined;
  }
  const listen = () => {
    const [output, report] = open.map((fd) => new Socket({fd, readable: true, writable: false}));
    return [output!, report!] as const;
  };
  return {names, listen, close};
}

/** What is left is removed with the session's folder. */
function remove(files: readonly string[]): void {
  for (const file of files) {
    try {
      unlinkSync(file);
    } catch (error) {
      if (getErrorCode(error) === undefined) throw error;
    }
  }
}
