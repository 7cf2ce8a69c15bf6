/**
 * Lists the processes that tools started and that still run. Each command leads a process group of its own, so that it
 * ends with all that it started. When mini-cc exits, it kills those that remain. When mini-cc is killed, the helper
 * shell does it.
 */
import {randomUUID} from 'node:crypto';
import {readdirSync, readFileSync} from 'node:fs';
import {setTimeout as delay} from 'node:timers/promises';
import {inBackground, neverRejects} from '../../core/util/background.ts';
import {getErrorCode, tryOr} from '../../core/util/errors.ts';
import {onProcessExit, runProgramSync} from '../../core/util/processes.ts';
import {HelperShell} from './helper-shell.ts';

/** Milliseconds in which a group may end by itself before it is killed. */
const TERM_MS = 400;
/** Milliseconds in which the system may end killed processes. */
const KILL_MS = 300;
const POLL_MS = 10;
/** Variable in the environment of a command, by which processes are found whose parents have ended. */
const MARK = 'MINI_CC_COMMAND';
/** Limit for listing the processes until all of them have stopped. A process that waits for a disk stops later. */
const MAX_LISTINGS = 50;

/** Adds a value that no other command has, and that all processes of the command inherit. */
export function withMark<T extends Readonly<Record<string, string>>>(env: T): T & {readonly [MARK]: string} {
  return {...env, [MARK]: randomUUID()};
}

interface Group {
  readonly mark: string;
  /** Removes the listener for the end of the run that left the group behind. */
  readonly stopListening: () => void;
}

export class ProcessGroups {
  /** By the id of the group's leader. */
  readonly #groups = new Map<number, Group>();
  /** Marks of the commands that may write, and that run. */
  readonly #writers = new Set<string>();
  /** Work during which no such command starts. */
  readonly #undisturbed = new Set<Promise<unknown>>();
  /** Starts commands, and ends the groups that are left when mini-cc was killed. */
  readonly helper = new HelperShell();
  readonly #onClose: (() => void)[] = [];
  #stopListening: (() => void) | undefined;
  readonly #onExit = (): void => {
    for (const pid of this.#groups.keys()) signalAll(pid, stopAll([pid]), 'SIGKILL');
  };

  /**
   * Adds a running group. One `exit` listener serves all groups, and only while there are some.
   * @param env environment of its leader, from `withMark`
   */
  add(pid: number, env: ReturnType<typeof withMark>): void {
    this.#prune();
    this.#stopListening ??= onProcessExit(this.#onExit);
    this.#groups.set(pid, {mark: env[MARK], stopListening: () => undefined});
    this.helper.watch(pid);
  }

  /**
   * Notes a command that may write in the workspace, and waits for work that must not run beside it. It is called before
   * the command starts.
   * @param env from `withMark`
   */
  async addWriter(env: ReturnType<typeof withMark>): Promise<void> {
    this.#writers.add(env[MARK]);
    await Promise.allSettled(this.#undisturbed);
  }

  /** Must be called when the command could not be started. */
  removeWriter(env: ReturnType<typeof withMark>): void {
    this.#writers.delete(env[MARK]);
  }

  /**
   * Does the work while no such command runs: those that are to start wait for its end.
   * @returns undefined, without doing the work, while such a command or a process that it left runs
   */
  withoutWriters<T>(work: () => Promise<T>): Promise<T> | undefined {
    this.#prune();
    if (this.#writers.size > 0) return undefined;
    const working = work();
    this.#undisturbed.add(working);
    const forget = () => this.#undisturbed.delete(working);
    working.then(forget, forget);
    return working;
  }

  /**
   * Must be called when the command has returned. Processes that it left in the background continue until mini-cc ends.
   * @param run ends these processes earlier, for a run that ends before mini-cc does
   * @returns true when processes are left
   */
  leave(pid: number, run: AbortSignal | undefined): boolean {
    if (!isThere(-pid)) {
      this.#remove(pid);
      return false;
    }
    if (!run) return true;
    const end = (): void => inBackground(this.end(pid), neverRejects);
    run.addEventListener('abort', end, {once: true});
    const {mark = ''} = this.#groups.get(pid) ?? {};
    this.#groups.set(pid, {mark, stopListening: () => run.removeEventListener('abort', end)});
    return true;
  }

  /**
   * Ends the group and the descendants that left it (`setsid`). They get SIGTERM first, and SIGKILL after 400 ms.
   * Resolves when they have ended, or after 700 ms.
   */
  async end(pid: number): Promise<void> {
    const mark = this.#groups.get(pid)?.mark;
    const before = new Set(listProcesses().map((each) => each.pid));
    const asked = stopAll([pid]);
    signalAll(pid, asked, 'SIGTERM');
    signalAll(pid, asked, 'SIGCONT');
    await waitForEnd(asked, TERM_MS);
    // Processes that were started meanwhile die with the rest. The id of the group stays in use while any of its
    // processes exists.
    const killed = stopAll([pid, ...asked.filter(isRunning)]);
    signalAll(pid, killed, 'SIGKILL');
    await waitForEnd(killed, KILL_MS);
    await killOrphans(mark, before);
    if (!isThere(-pid)) this.#remove(pid);
  }

  /** @param listener called when the session ends, to end what waits for the next command */
  onClose(listener: () => void): void {
    this.#onClose.push(listener);
  }

  /**
   * Ends all groups that are left, and the helper shell: a process of mini-cc may have many sessions, one after the
   * other. Nothing is started afterwards.
   */
  close(): void {
    for (const listener of this.#onClose.splice(0)) listener();
    this.#prune();
    this.#onExit();
    for (const pid of [...this.#groups.keys()]) this.#remove(pid);
    this.helper.close();
  }

  #remove(pid: number): void {
    const group = this.#groups.get(pid);
    group?.stopListening();
    this.#writers.delete(group?.mark ?? '');
    this.#groups.delete(pid);
    this.helper.forget(pid);
    if (this.#groups.size > 0) return;
    this.#stopListening?.();
    this.#stopListening = undefined;
  }

  #prune(): void {
    for (const pid of [...this.#groups.keys()]) if (!isThere(-pid)) this.#remove(pid);
  }
}

/**
 * Kills what a command started while it was being ended, and whose parent ended before it was found: bash blocks SIGTERM
 * while it starts a process, ends then, and leaves that one behind. Only Linux shows the environment of processes.
 * @param before ids of the processes that ran when the end began. Daemons that the command started earlier continue.
 */
async function killOrphans(mark: string | undefined, before: ReadonlySet<number>): Promise<void> {
  if (mark === undefined || process.platform !== 'linux') return;
  // A process has no environment for a moment while it becomes another program, so one empty listing is not enough.
  for (let [listings, empty] = [1, 0]; listings < MAX_LISTINGS && empty < 2; listings += 1) {
    const young = listProcesses().filter(({pid, isRunning}) => isRunning && !before.has(pid) && hasMark(pid, mark));
    empty = young.length === 0 ? empty + 1 : 0;
    for (const {pid} of young) sendSignal(pid, 'SIGKILL');
    await waitForEnd(
      young.map(({pid}) => pid),
      KILL_MS,
    );
  }
}

function hasMark(pid: number, mark: string): boolean {
  return tryOr(() => readFileSync(`/proc/${pid}/environ`, 'latin1'), '').includes(`${MARK}=${mark}`);
}

async function waitForEnd(pids: readonly number[], limitMs: number): Promise<void> {
  const until = performance.now() + limitMs;
  while (pids.some(isRunning) && performance.now() < until) await delay(POLL_MS);
}

interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** False for a process that has ended and that its parent has not yet waited for. */
  readonly isRunning: boolean;
  /** True when SIGSTOP or a debugger has stopped the process. */
  readonly isStopped: boolean;
}

/**
 * Stops processes, the members of the groups that they lead, and all their descendants, so that they can be ended. A
 * process that is not stopped could start another process that leaves the group, as a sandbox does, and could end
 * before the other process is found among its descendants.
 * @returns all of them
 */
function stopAll(leaders: readonly number[]): number[] {
  let tree = listProcessTree(leaders, listProcesses());
  let hadStopped = false;
  for (let listings = 1; listings < MAX_LISTINGS; listings += 1) {
    const moving = tree.filter(({isStopped}) => !isStopped);
    // A process may start another one and stop while it is listed. Only a listing that began when all had stopped is
    // complete.
    if (moving.length === 0 && hadStopped) break;
    hadStopped = moving.length === 0;
    for (const {pid} of moving) sendSignal(pid, 'SIGSTOP');
    tree = listProcessTree(leaders, listProcesses());
  }
  return tree.map(({pid}) => pid);
}

/** Returns the members of the groups that `leaders` lead, and all descendants of these, whatever their group. */
function listProcessTree(leaders: readonly number[], table: readonly ProcessRow[]): ProcessRow[] {
  const found = new Set<number>();
  const queue = [...leaders, ...table.filter(({group}) => leaders.includes(group)).map(({pid}) => pid)];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (found.has(next)) continue;
    found.add(next);
    queue.push(...table.filter(({parent}) => parent === next).map(({pid}) => pid));
  }
  return table.filter(({pid, isRunning}) => isRunning && found.has(pid));
}

/** Lists all processes. It is synchronous because it must work while mini-cc exits. */
export function listProcesses(): ProcessRow[] {
  if (process.platform === 'linux') {
    return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (readProcessRow(Number(name)) ?? []) : []));
  }
  const table = runProgramSync('ps', ['-A', '-o', 'pid=,ppid=,pgid=,stat=']);
  return [...table.matchAll(/^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S)/gm)].map(([, pid, parent, group, state]) => ({
    pid: Number(pid),
    parent: Number(parent),
    group: Number(group),
    ...readState(state!),
  }));
}

/** Linux only. Returns undefined for a process that has ended. */
function readProcessRow(pid: number): ProcessRow | undefined {
  const stat = tryOr(() => readFileSync(`/proc/${pid}/stat`, 'utf8'), undefined);
  if (stat === undefined) return undefined;
  // The format is `pid (name) state ppid pgrp …`, where the name may contain spaces and parentheses.
  const [state, parent, group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return {pid, parent: Number(parent), group: Number(group), ...readState(state!)};
}

function readState(state: string): Pick<ProcessRow, 'isRunning' | 'isStopped'> {
  return {isRunning: state !== 'Z', isStopped: /^t$/i.test(state)};
}

/** False for a process that has ended, also while its parent has not waited for it yet. */
export function isRunning(pid: number): boolean {
  return process.platform === 'linux' ? readProcessRow(pid)?.isRunning === true : isThere(pid);
}

function signalAll(leader: number, tree: readonly number[], signal: NodeJS.Signals): void {
  for (const target of [-leader, ...tree]) sendSignal(target, signal);
}

/** A negative id means the group, as for kill(2). Also true while only ended processes of the group are left. */
function isThere(target: number): boolean {
  return sendSignal(target, 0);
}

/** @returns false when no such process exists */
function sendSignal(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(target, signal);
  } catch (error) {
    // EPERM means that the process exists and belongs to another user (sudo). It cannot be ended from here.
    return getErrorCode(error) === 'EPERM';
  }
}
