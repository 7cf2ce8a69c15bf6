/** Runs the built program as users do: with arguments and pipes, or in a terminal. Builds dist/ when it is out of date. */
import {type ChildProcessWithoutNullStreams, spawn} from 'node:child_process';
import path from 'node:path';
import {ensureBuilt} from '../../scripts/setup.mjs';
import {createHome, createUserEnvironment, type Environment, type Home} from './environment.ts';
import type {MessagesServer} from './messages-server.ts';
import {startTerminal, type Terminal} from './terminal.ts';
import {PATIENCE_MS, within} from './wait.ts';

export const root = path.resolve(import.meta.dirname, '../..');
export const cliPath = path.join(root, 'dist', 'cli.js');

export interface CliOptions {
  /** Default: the home folder. */
  readonly cwd?: string;
  /** Added last; undefined removes a variable. */
  readonly env?: Environment;
  /** The model server. Without one, the offline model answers. */
  readonly server?: Pick<MessagesServer, 'url'>;
  /** Default: an empty folder, removed at the end. */
  readonly home?: Home;
  /** The program starts through another one, e.g. on a small disk. */
  readonly wrap?: (command: string, args: readonly string[]) => [command: string, args: string[]];
}

export interface RunOptions extends CliOptions {
  /** Standard input; default: empty. */
  readonly input?: string;
  /** After this time the program is killed and the promise rejects. Default: 45,000. */
  readonly timeoutMs?: number;
}

export interface CliRun {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

let built: Promise<void> | undefined;

/** Builds dist/ when it is out of date, at most once per process. */
export function buildOnce(): Promise<void> {
  built ??= ensureBuilt(root);
  return built;
}

export function cliEnvironment(home: Home, {env = {}, server}: CliOptions): Record<string, string> {
  const toServer = server && {ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: 'test-key'};
  const all: Environment = {...createUserEnvironment(), ...home.env, ...toServer, ...env};
  return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/** Starts the program, for tests that signal it or close its pipes. The caller removes the home folder. */
export async function spawnCli(
  args: readonly string[],
  options: CliOptions & {readonly home: Home},
): Promise<ChildProcessWithoutNullStreams> {
  await buildOnce();
  const {home, cwd = home.path, wrap = runDirectly} = options;
  // Its own process group, so that a test can end it with all its children.
  return spawn(...wrap(process.execPath, [cliPath, ...args]), {
    cwd,
    env: cliEnvironment(home, options),
    detached: true,
  });
}

/** Runs the program and waits for its end. */
export async function runCli(args: readonly string[], options: RunOptions = {}): Promise<CliRun> {
  const home = options.home ?? (await createHome());
  try {
    const child = await spawnCli(args, {...options, home});
    return await collectOutput(child, args, options);
  } finally {
    if (options.home === undefined) await home.remove();
  }
}

async function collectOutput(
  child: ChildProcessWithoutNullStreams,
  args: readonly string[],
  {input, timeoutMs = 2 * PATIENCE_MS}: RunOptions,
): Promise<CliRun> {
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  // The program may end before it has read its input.
  child.stdin.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'ECONNRESET') throw error;
  });
  child.stdin.end(input ?? '');
  const ended = new Promise<CliRun>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      resolve({stdout, stderr, code, signal});
    });
  });
  const describe = () =>
    `mini-cc ${args.join(' ')} did not end within ${timeoutMs} ms; standard output:\n${stdout}\nstandard error:\n${stderr}`;
  return within(ended, timeoutMs, describe).catch((error: unknown) => {
    killGroup(child);
    throw error;
  });
}

/** Ends a process that `spawnCli` started, with its children. */
export function killGroup(child: {readonly pid?: number | undefined}): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

export interface StartOptions extends CliOptions {
  readonly cols?: number;
  readonly rows?: number;
}

/** Starts the program in a terminal. A home folder that was not given is removed at the end. */
export async function startCli(args: readonly string[], options: StartOptions = {}): Promise<Terminal> {
  await buildOnce();
  const home = options.home ?? (await createHome());
  const {cols, rows, cwd = home.path, wrap = runDirectly} = options;
  const terminal = startTerminal(...wrap(process.execPath, [cliPath, ...args]), {
    cwd,
    env: {...removeDefaults(), ...cliEnvironment(home, options)},
    ...(cols === undefined ? {} : {cols}),
    ...(rows === undefined ? {} : {rows}),
  });
  if (options.home === undefined) terminal.exit.then(home.remove, home.remove);
  return terminal;
}

function runDirectly(command: string, args: readonly string[]): [string, string[]] {
  return [command, [...args]];
}

/** The default environment, all undefined: the terminal must not bring back variables that a test removes. */
function removeDefaults(): Record<string, undefined> {
  return Object.fromEntries(Object.keys(createUserEnvironment()).map((name) => [name, undefined]));
}
