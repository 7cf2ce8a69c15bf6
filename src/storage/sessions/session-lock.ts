/**
 * Only one mini-cc at a time writes a session. The lock is a file beside the transcript that names the process. When
 * that process has ended, the lock is taken over. A process is identified by its id and start time, since ids are
 * reused.
 */
import {existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {hostname} from 'node:os';
import path from 'node:path';
import {getErrorCode, UsageError} from '../../core/util/errors.ts';
import {runProgramSync} from '../../core/util/processes.ts';

const LOCK = 'lock';

interface Holder {
  readonly version: 1;
  readonly pid: number;
  /** In the system's own units: only for comparison. */
  readonly started: string;
  readonly host: string;
}

export class SessionLock {
  readonly #file: string;
  #isHeld = false;

  constructor(
    private readonly folder: string,
    private readonly sessionId: string,
  ) {
    this.#file = path.join(folder, LOCK);
  }

  /**
   * Does nothing when this process has the lock already.
   * @throws UsageError when another one has it, and the error of the file system when it cannot be written
   */
  acquire(): void {
    if (this.#isHeld) return;
    const own = path.join(this.folder, `${LOCK}.${process.pid}`);
    this.#write(own);
    try {
      // By a hard link: the lock file is complete from the first moment, and only one of several processes can create
      // it.
      while (!tryLink(own, this.#file)) this.#removeStale();
      this.#isHeld = true;
    } finally {
      rmSync(own, {force: true});
    }
  }

  #write(own: string): void {
    const holder: Holder = {version: 1, pid: process.pid, started: getStartTime(process.pid) ?? '', host: hostname()};
    try {
      mkdirSync(this.folder, {recursive: true, mode: 0o700});
      writeFileSync(own, JSON.stringify(holder), {mode: 0o600});
    } catch (error) {
      if (existsSync(own)) rmSync(own);
      throw error;
    }
  }

  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    rmSync(this.#file, {force: true});
  }

  /** @throws UsageError when its process is alive. */
  #removeStale(): void {
    const holder = readHolder(this.#file);
    if (holder && isAlive(holder)) {
      const where = holder.host === hostname() ? `process ${holder.pid}` : `process ${holder.pid} on ${holder.host}`;
      throw new UsageError(
        `Session ${this.sessionId} is open in another mini-cc (${where}): leave that one first, or start a new session`,
      );
    }
    const aside = path.join(this.folder, `${LOCK}.stale.${process.pid}`);
    if (!tryRename(this.#file, aside)) return;
    // Another process may have taken over the lock after it was read here: then put it back.
    const taken = readHolder(aside);
    if (taken && isAlive(taken)) tryLink(aside, this.#file);
    rmSync(aside, {force: true});
  }
}

/** Whether a live process has the session of this folder open. */
export function isLocked(folder: string): boolean {
  const holder = readHolder(path.join(folder, LOCK));
  return holder !== undefined && isAlive(holder);
}

/** Undefined without a lock file, and for one that a crash left incomplete: no process has the lock then. */
function readHolder(file: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Holder;
  } catch (error) {
    if (error instanceof SyntaxError || getErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** A process of another machine (with a shared home) cannot be checked, so it counts as alive. */
function isAlive({pid, started, host}: Holder): boolean {
  return host !== hostname() || getStartTime(pid) === started;
}

/** When a process started; undefined when it does not exist. */
function getStartTime(pid: number): string | undefined {
  try {
    if (process.platform === 'linux') {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return fields[0] === 'Z' ? undefined : fields[19];
    }
    return runProgramSync('ps', ['-o', 'lstart=', '-p', String(pid)]).trim();
  } catch (error) {
    // The process does not exist: /proc has no file for it, or ps exits with 1.
    if (getErrorCode(error) === 'ENOENT' || getErrorCode(error) === 'ESRCH' || hasStatus(error)) return undefined;
    throw error;
  }
}

/** Creates a hard link. @returns false when `to` exists already */
function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (getErrorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Renames a file. @returns false when `from` does not exist any more */
function tryRename(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

function hasStatus(error: unknown): boolean {
  return error instanceof Error && 'status' in error;
}
