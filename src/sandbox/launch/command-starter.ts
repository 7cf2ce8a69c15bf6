/**
 * Starts commands by the helper shell. For each command it writes a file with environment, folder and arguments. Each
 * command leads a process group of its own, as it does when Node starts it. What the shell cannot pass on exactly as it is,
 * Node starts.
 */

import {randomUUID} from 'node:crypto';
import {closeSync, mkdirSync, rmSync, writeFileSync, writeSync} from 'node:fs';
import type {Socket} from 'node:net';
import path from 'node:path';
import {getErrorCode, MiniCcError, tryOr} from '../../core/util/errors.ts';
import {quoteForShell} from '../../core/util/text.ts';
import type {SessionFolder} from '../view/session-folder.ts';
import type {HelperShell, Job} from './helper-shell.ts';
import {type NamedPipe, NamedPipes} from './named-pipes.ts';
import {
  COMMAND,
  type MarkedStart,
  NOT_STARTED,
  type ShellProcess,
  type ShellStart,
  type ShellStarter,
} from './shell-process.ts';

/** Longer arguments are left to Node, whose error says that they are too long. */
const MAX_CHARS = 100_000;
/** Descriptor on which a job writes its answers to mini-cc. It is closed before the command starts. */
const ANSWERS = 7;
/** Variables that bash sets or uses itself. */
const OWN_NAMES =
  /^(?:BASH.*|COMP_.*|EPOCH.*|[EU]?UID|S?RANDOM|FUNC.*|DIRSTACK|GROUPS|HISTCMD|IFS|LINENO|OPTIND|POSIXLY_CORRECT|PPID|SECONDS|SHELLOPTS)$/;

export class CommandStarter implements ShellStarter {
  readonly pipes: NamedPipes;
  /** Begins the names of its files, since a session has more than one object of this class. */
  readonly #name = randomUUID();
  /** Files with the inputs of commands. */
  readonly #inputs = new Map<Uint8Array, string>();

  constructor(
    private readonly helper: HelperShell,
    private readonly folder: Pick<SessionFolder, 'getFile'>,
  ) {
    this.pipes = new NamedPipes(folder, helper);
  }

  /** Starts the shell and makes pipes, so that a command waits for a shorter time. */
  prepare(): void {
    this.pipes.prepare();
  }

  async start(start: MarkedStart, isWaiting: boolean): Promise<ShellProcess | undefined> {
    if (this.helper.hasEnded || !canPassOn(start)) return undefined;
    const pipes = await this.pipes.take(isWaiting ? 3 : 2);
    if (!pipes) return undefined;
    let job: Job;
    let file = '';
    try {
      const input = start.input && this.#writeInput(start.input);
      job = this.helper.run((id) => {
        file = this.#write(`start-${id}`, formatStart(id, start, pipes, input));
        return file;
      });
    } catch (error) {
      for (const pipe of pipes) pipe.close();
      // A full disk, or a temporary folder that a cleaner removed.
      if (getErrorCode(error) === undefined) throw error;
      return undefined;
    }
    const writer = pipes[2]?.openWriter();
    const pid = await job.started;
    rmSync(file, {force: true});
    this.pipes.prepare();
    if (pid !== undefined) return follow(start, {job, pid, pipes, writer});
    for (const pipe of pipes) pipe.close();
    if (writer !== undefined) closeSync(writer);
    // The job ends without a start when the pipes were removed.
    if ((await job.ended) !== undefined) return undefined;
    throw new MiniCcError('SPAWN', 'The shell that starts commands was killed, so this command may have run or not.');
  }

  #writeInput(input: Uint8Array): string {
    const file = this.#inputs.get(input) ?? this.#write(`input-${this.#inputs.size}`, input);
    this.#inputs.set(input, file);
    return file;
  }

  #write(name: string, data: string | Uint8Array): string {
    const file = this.folder.getFile(path.join('starts', `${this.#name}-${name}`));
    mkdirSync(path.dirname(file), {recursive: true, mode: 0o700});
    writeFileSync(file, data, {mode: 0o600});
    return file;
  }
}

interface Started {
  readonly job: Job;
  readonly pid: number;
  /** Pipes for output, for data from descriptor 3, and for the command if the shell waits for one. */
  readonly pipes: readonly NamedPipe[];
  /** Descriptor of the pipe for the command. */
  readonly writer: number | undefined;
}

function follow({env}: MarkedStart, {job, pid, pipes, writer}: Started): ShellProcess {
  const [output, report] = pipes.map((pipe, index) => (index < 2 ? pipe.listen() : pipe.close()));
  return {
    pid,
    env,
    output: [output!],
    report: report!,
    exited: job.ended.then((code) => ({code: code ?? null, signal: null})),
    handles: [job, output as unknown as Socket, report as unknown as Socket],
    ...(writer !== undefined && {
      input: {
        give: (command: string) => {
          // The pipe takes a short command whole. A shell that was killed closed its end, and its end is noticed anyway.
          tryOr(() => writeSync(writer, `${command}\0`), 0);
          closeSync(writer);
        },
        close: () => closeSync(writer),
      },
    }),
  };
}

/** Returns whether the shell can pass everything on to the command exactly as it is. */
function canPassOn({args, cwd, env, link}: ShellStart): boolean {
  if (link !== undefined || env.PATH === undefined) return false;
  if (!Object.keys(env).every((name) => /^[A-Za-z_]\w*$/.test(name) && !OWN_NAMES.test(name))) return false;
  const texts = [...args, cwd, ...Object.values(env)];
  // Bash leaves NUL out and would run another command than the one that was judged. Node refuses it.
  if (texts.some((text) => text.includes('\0'))) return false;
  return texts.reduce((sum, {length}) => sum + length, 0) <= MAX_CHARS;
}

/**
 * Writes what the helper shell reads: it starts the command in a group of its own, waits, and prints its exit code. The
 * process of the command prints its id itself before it runs the command, which may kill the shell.
 */
function formatStart(
  id: string,
  {file, args, cwd, env: {SHLVL, PWD, OLDPWD, _, ...env}}: ShellStart,
  pipes: readonly NamedPipe[],
  input: string | undefined,
): string {
  const [output = '', report = '', command] = pipes.map(({name}) => quoteForShell(name));
  // `exec` counts down the level of shells.
  const level = SHLVL !== undefined && /^\d{1,4}$/.test(SHLVL) ? String(Number(SHLVL) + 1) : undefined;
  const start = [
    `builtin printf '${id} started %s\\n' "$BASHPID" >&${ANSWERS}`,
    // The trap does not run where `exec` succeeds.
    `trap 'builtin printf ${NOT_STARTED} >&3' EXIT; unset SHLVL`,
    ...(input === undefined ? [] : [`exec 4<${quoteForShell(input)}`]),
    ...Object.entries({...env, SHLVL: level}).map(setVariable),
    `cd -P -- ${quoteForShell(cwd)}`,
    // `cd` has set both.
    ...Object.entries({PWD, OLDPWD}).map(setVariable),
    `exec ${[file, ...args].map(quoteForShell).join(' ')} 2>&1 ${ANSWERS}>&-`,
  ].join(' && ');
  return [
    // mini-cc may be killed before it names the group to the helper shell.
    `trap '[ -z "$!" ] || builtin kill -s KILL -- "-$!"; exit' TERM`,
    'set -m',
    `{ { ${start}; } </dev/null & } ${ANSWERS}>&1 >${output} 3>${report}${command === undefined ? '' : ` ${COMMAND}<${command}`} || {`,
    `builtin printf '${id} ended 1\\n'; exit; }`,
    // With job control, `wait` would also return when the command is stopped.
    'set +m; wait "$!"',
    `builtin printf '${id} ended %s\\n' "$?"`,
    '',
  ].join('\n');
}

function setVariable([name, value]: readonly [string, string | undefined]): string {
  return value === undefined ? `unset ${name}` : `export ${name}=${quoteForShell(value)}`;
}
