/**
 * Keeps one confined shell ready, so that a command that reads does not wait until its sandbox is made. When a command has
 * ended, the shell for the next one starts, and waits at a pipe for its command.
 *
 * A shell is used only for a command that would get the same sandbox now: the same arguments, environment and folder, and
 * at each path that it shows or hides the same file as before the shell was started. Else it ends without a command.
 */
import {lstatSync} from 'node:fs';
import path from 'node:path';
import {inBackground} from '../../core/util/background.ts';
import {isInside} from '../../core/util/paths.ts';
import {withMark} from './process-groups.ts';
import {startShell} from './run-shell.ts';
import type {ShellProcess, ShellStart} from './shell-process.ts';
import {canBeRead, discard, withoutCommand} from './waiting-shell.ts';

/** Milliseconds after which a shell ends that no command has used. */
const WAIT_MS = 30_000;

/** The facts that must be the same when a waiting shell gets its command. */
interface Place {
  readonly sandbox: string;
  /** Identities of the files that the sandbox shows or hides. */
  readonly files: string;
}

interface Spare {
  readonly place: Place;
  /** Undefined when the shell could not be started. */
  readonly waiting: Promise<ShellProcess | undefined>;
  readonly timer: NodeJS.Timeout;
}

interface Taken {
  /** Has got the command; undefined when no shell waits in the same sandbox. One that was killed does not begin it. */
  readonly shell: ShellProcess | undefined;
  /** Starts the shell for the next command. */
  readonly prepareNext: () => void;
}

export class SpareShell {
  #spare: Spare | undefined;

  /** @param start its last argument is the command */
  async take(start: ShellStart): Promise<Taken> {
    const found = await this.#takeWaiting(start.args.at(-1)!);
    // Identify the files before the next shell starts, so that a file is noticed that is replaced while its sandbox is made.
    const place = describePlace(start);
    const prepareNext = () => this.#prepare(start, place);
    if (!found) return {shell: undefined, prepareNext};
    if (found.place.sandbox !== place.sandbox || found.place.files !== place.files) {
      discard(found.process);
      return {shell: undefined, prepareNext};
    }
    for (const handle of found.process.handles) handle.ref();
    found.process.input?.give(start.args.at(-1)!);
    return {shell: found.process, prepareNext};
  }

  /** Starts the shell for the first command. @param start its last argument is left out */
  prepare(start: ShellStart): void {
    this.#prepare(start, describePlace(start));
  }

  /** Ends the shell that waits. */
  close(): void {
    const {timer, waiting} = this.#spare ?? {};
    this.#spare = undefined;
    clearTimeout(timer);
    endUnused(waiting);
  }

  async #takeWaiting(command: string): Promise<{readonly process: ShellProcess; readonly place: Place} | undefined> {
    if (!this.#spare || !canBeRead(command)) return undefined;
    const {place, waiting, timer} = this.#spare;
    this.#spare = undefined;
    clearTimeout(timer);
    const process = await waiting;
    return process && {process, place};
  }

  #prepare(start: ShellStart, place: Place): void {
    if (this.#spare) return;
    const waiting = startWaiting(start);
    const timer = setTimeout(() => this.close(), WAIT_MS).unref();
    this.#spare = {place, waiting, timer};
  }
}

function endUnused(waiting: Promise<ShellProcess | undefined> = Promise.resolve(undefined)): void {
  const ended = waiting.then((found) => found && discard(found));
  inBackground(ended, () => undefined);
}

/** The shell does not keep mini-cc from exiting. It ends with mini-cc, because its pipe is closed then. */
async function startWaiting(start: ShellStart): Promise<ShellProcess | undefined> {
  try {
    const waiting = await startShell({...withoutCommand(start), env: withMark(start.env)}, 'pipe');
    for (const handle of waiting.handles) handle.unref();
    return waiting;
  } catch {
    // The next command starts a shell of its own, and reports why it cannot.
    return undefined;
  }
}

function describePlace(start: ShellStart): Place {
  return {sandbox: describeSandbox(start), files: describeFiles(start)};
}

function describeSandbox({file, args, env, cwd, input}: ShellStart): string {
  return JSON.stringify([file, args.slice(0, -1), env, cwd, input && Buffer.from(input).toString('base64')]);
}

function describeFiles({args, cwd}: ShellStart): string {
  return [cwd, ...args.filter((each, index) => path.isAbsolute(each) && !isMadeInside(args, index))]
    .map(identify)
    .join();
}

/** Flags of bubblewrap that create a folder in the sandbox. */
const MAKES = new Set(['--dir', '--tmpfs', '--proc', '--dev']);
const BINDS = /^--(?:ro-)?bind(?:-try)?$/;

/** Returns whether the path is a folder that only the sandbox has, outside of all places that it shows. */
function isMadeInside(args: readonly string[], index: number): boolean {
  if (!MAKES.has(args[index - 1]!)) return false;
  const bound = args.slice(0, index).filter((_, at) => BINDS.test(args[at - 2] ?? ''));
  return !isInside(args[index]!, bound);
}

/** A file may get the number of a removed file. The time of its creation distinguishes the two. */
function identify(place: string): string {
  const stat = lstatSync(place, {throwIfNoEntry: false, bigint: true});
  if (!stat) return '';
  // A file system without this time gives that of the last change, which differs more often than necessary.
  return `${stat.dev}:${stat.ino}:${stat.birthtimeNs || stat.ctimeNs}`;
}
