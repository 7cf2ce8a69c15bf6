/**
 * Keeps one shell ready, so that a command does not wait until its sandbox is made. When a command that reads has
 * ended, the shell for the next one starts, and waits at a pipe for its command. The shell of another command starts when the
 * model has written its text, and waits for the rest of the call.
 *
 * A shell is used only for a command that would get the same sandbox now: the same arguments, environment and folder, and
 * at each path that it shows or hides the same file as before the shell was started. Otherwise it ends without a command.
 */
import {lstatSync} from 'node:fs';
import path from 'node:path';
import {inBackground, neverRejects} from '../../core/util/background.ts';
import {tryOr} from '../../core/util/errors.ts';
import {isInside} from '../../core/util/paths.ts';
import {withMark} from './process-groups.ts';
import {startShell} from './run-shell.ts';
import type {ShellProcess, ShellStart} from './shell-process.ts';
import {canBeRead, discard, withoutCommand} from './waiting-shell.ts';

/** Milliseconds in which a shell without a command should end. */
const END_MS = 1_000;

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
  readonly onEnd: () => void;
}

interface Taken {
  /**
   * Waits for the command; undefined when no shell waits in the same sandbox. One that was killed does not begin it.
   */
  readonly shell: ShellProcess | undefined;
  /** Starts the shell for the next command. */
  readonly prepareNext: () => void;
}

export class SpareShell {
  #spare: Spare | undefined;

  /** @param waitMs milliseconds after which a shell ends that no command has used */
  constructor(private readonly waitMs: number) {}

  /** @param start its last argument is the command */
  async take(start: ShellStart): Promise<Taken> {
    const found = canBeRead(start.args.at(-1)!) ? await this.#takeWaiting() : undefined;
    // Identify the files before the next shell starts, so that a file is noticed that is replaced while its sandbox is made.
    const place = describePlace(start);
    const prepareNext = () => this.#prepare(start, place);
    if (!found) return {shell: undefined, prepareNext};
    const {spare, process} = found;
    if (spare.place.sandbox !== place.sandbox || spare.place.files !== place.files) {
      inBackground(endUnused(spare), () => undefined);
      return {shell: undefined, prepareNext};
    }
    spare.onEnd();
    for (const handle of process.handles) handle.ref();
    return {shell: process, prepareNext};
  }

  /**
   * Starts the shell for a command, unless one waits already.
   * @param start its last argument is left out
   * @param onEnd called once, when the shell is taken or ends without a command
   */
  prepare(start: ShellStart, onEnd: () => void): void {
    if (this.#spare) onEnd();
    else this.#prepare(start, describePlace(start), onEnd);
  }

  get isWaiting(): boolean {
    return this.#spare !== undefined;
  }

  /** Ends the shell that waits. Never rejects. */
  async close(): Promise<void> {
    const spare = this.#remove();
    if (spare) await endUnused(spare);
  }

  #remove(): Spare | undefined {
    const spare = this.#spare;
    this.#spare = undefined;
    clearTimeout(spare?.timer);
    return spare;
  }

  async #takeWaiting(): Promise<{readonly spare: Spare; readonly process: ShellProcess} | undefined> {
    const spare = this.#remove();
    const process = await spare?.waiting;
    if (spare && process) return {spare, process};
    spare?.onEnd();
    return undefined;
  }

  #prepare(start: ShellStart, place: Place, onEnd: () => void = () => undefined): void {
    if (this.#spare) return;
    const waiting = startWaiting(start);
    const timer = setTimeout(() => inBackground(this.close(), neverRejects), this.waitMs).unref();
    this.#spare = {place, waiting, timer, onEnd};
  }
}

async function endUnused({waiting, onEnd}: Spare): Promise<void> {
  const found = await waiting;
  if (found) {
    for (const handle of found.handles) handle.ref();
    discard(found);
    const {promise: late, resolve} = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, END_MS);
    // Removing a placeholder takes long while a sandbox has it.
    await Promise.race([found.exited, late]);
    clearTimeout(timer);
  }
  onEnd();
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
  const shown = args.slice(0, -1).filter((each, index) => path.isAbsolute(each) && !isMadeInside(args, index));
  // Most of them are named twice, as the source and as the target of a mount.
  return [...new Set([cwd, ...shown])].map(identify).join();
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
  const stat = tryOr(() => lstatSync(place, {throwIfNoEntry: false, bigint: true}), undefined);
  if (!stat) return '';
  // A file system without this time gives that of the last change, which differs more often than necessary.
  return `${stat.dev}:${stat.ino}:${stat.birthtimeNs || stat.ctimeNs}`;
}
