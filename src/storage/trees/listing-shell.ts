/**
 * Keeps one small shell that lists files by git whenever it is asked. A command needs two lists, and each start of a
 * process from mini-cc blocks it for some milliseconds, while the shell starts git in less than one.
 */
import type {ChildProcess} from 'node:child_process';
import type {Socket} from 'node:net';
import {type GitOptions, splitNames, startGitScript} from './git.ts';

/** A list is followed by an empty name and by the exit code of git. What git says about a failure is left out. */
const SCRIPT = `while read -r _; do git "$@" 2>/dev/null; printf '\\0%s\\0' "$?"; done`;
const END = /(?:^|\0)\0(\d{1,3})\0$/;
const END_BYTES = 6;
/** Milliseconds for a list. One that takes longer is made without the shell, where more time is allowed. */
const LIMIT_MS = 2_000;
/** Milliseconds without a list after which the shell ends. */
const WAIT_MS = 30_000;

export class ListingShell {
  #shell: {readonly child: Promise<ChildProcess>; readonly ending: AbortController} | undefined;
  #hasFailed = false;
  #idle: NodeJS.Timeout | undefined;

  /** @param args the subcommand of git and its arguments, with `-z` */
  constructor(
    private readonly cwd: string,
    private readonly args: readonly string[],
    private readonly options: GitOptions,
  ) {}

  /**
   * Makes one list after the other: a caller waits until its list is there before it asks for the next one.
   * @returns undefined when the list has to be made without the shell, which also says why it cannot be made
   */
  async list(signal?: AbortSignal): Promise<Buffer[] | undefined> {
    if (this.#hasFailed || signal?.aborted) return undefined;
    clearTimeout(this.#idle);
    const listed = await this.#ask(signal).catch(() => undefined);
    if (listed === undefined) this.#end();
    else this.#idle = setTimeout(() => this.#end(), WAIT_MS).unref();
    this.#hasFailed = listed === undefined && !signal?.aborted;
    return listed;
  }

  async #ask(signal: AbortSignal | undefined): Promise<Buffer[] | undefined> {
    this.#shell ??= this.#start();
    const child = await this.#shell.child;
    const handles = [child, child.stdin as Socket, child.stdout as Socket];
    for (const handle of handles) handle.ref();
    const listed = await readList(child, AbortSignal.any([AbortSignal.timeout(LIMIT_MS), ...(signal ? [signal] : [])]));
    // While it waits it does not keep mini-cc from exiting.
    for (const handle of handles) handle.unref();
    return listed;
  }

  #start() {
    const ending = new AbortController();
    return {child: startGitScript(this.cwd, SCRIPT, this.args, {...this.options, signal: ending.signal}), ending};
  }

  /** Ends the shell, and a git that it waits for. It also ends with mini-cc, since its input is closed then. */
  #end(): void {
    this.#shell?.ending.abort();
    this.#shell = undefined;
  }
}

/** @returns undefined when the list is not complete when `signal` aborts, when git failed, and when the shell is gone */
function readList(child: ChildProcess, signal: AbortSignal): Promise<Buffer[] | undefined> {
  const chunks: Buffer[] = [];
  return new Promise((resolve) => {
    const stop = (names?: Buffer[]) => {
      child.stdout?.off('data', onData).off('close', onEnd);
      signal.removeEventListener('abort', onEnd);
      resolve(names);
    };
    const onEnd = () => stop();
    const onData = (chunk: Buffer) => {
      chunks.push(chunk);
      const last = Buffer.concat(chunks.slice(-END_BYTES)).subarray(-END_BYTES);
      const [end, code] = END.exec(last.toString('latin1')) ?? [];
      if (end === undefined) return;
      const all = Buffer.concat(chunks);
      stop(code === '0' ? splitNames(all.subarray(0, all.lastIndexOf('\0\0') + 1)) : undefined);
    };
    if (signal.aborted || child.stdout?.closed) return stop();
    child.stdout?.on('data', onData).once('close', onEnd);
    signal.addEventListener('abort', onEnd);
    child.stdin?.write('\n');
  });
}
