/**
 * One mini-cc writes a session. The lock is a file beside the transcript that names the process; one whose process is
 * gone is taken over. A process is known by its id and the time it started, since ids are used again.
 */
import {existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {hostname} from 'node:os';
import path from 'node:path';
import {messageOf, UsageError} from '../../core/util/errors.ts';
import {codeOf} from '../../core/util/file-errors.ts';
import {runProgramSync} from '../../core/util/processes.ts';

const LOCK = 'lock';

interface Holder {
  readonly version: 1;
  readonly pid: number;
  /** As the system counts it; compared, never read. */
  readonly started: string;
  readonly host: string;
}

export class SessionLock {
  readonly #file: string;
  #held = false;

  constructor(
    private readonly folder: string,
    private readonly sessionId: string,
  ) {
    this.#file = path.join(folder, LOCK);
  }

  /** @throws UsageError when another process has it, or nothing can be written there. Having it already is fine. */
  acquire(): void {
    if (this.#held) return;
    const own = path.join(this.folder, `${LOCK}.${process.pid}`);
    this.#write(own);
    try {
      // Whole from the first moment, and only one of several gets it: a link, not a write.
      while (!linked(own, this.#file)) this.#removeStale();
      this.#held = true;
    } finally {
      rmSync(own, {force: true});
    }
  }

  /** @throws UsageError on a full disk, and where this user may not write. */
  #write(own: string): void {
    const holder: Holder = {version: 1, pid: process.pid, started: startOf(process.pid) ?? '', host: hostname()};
    try {
      mkdirSync(this.folder, {recursive: true, mode: 0o700});
      writeFileSync(own, JSON.stringify(holder), {mode: 0o600});
    } catch (error) {
      if (existsSync(own)) rmSync(own);
      throw new UsageError(
        `Nothing can be written to ${this.folder} (${messageOf(error)}): make room there, or set MINI_CC_HOME to a folder that can be written`,
        {cause: error},
      );
    }
  }

  release(): void {
    if (!this.#held) return;
    this.#held = false;
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
    if (!renamed(this.#file, aside)) return;
    // Somebody else may have taken it over since it was read: then it goes back.
    const taken = readHolder(aside);
    if (taken && isAlive(taken)) linked(aside, this.#file);
    rmSync(aside, {force: true});
  }
}

/** A live process has the session of this folder. */
export function isLocked(folder: string): boolean {
  const holder = readHolder(path.join(folder, LOCK));
  return holder !== undefined && isAlive(holder);
}

/** Undefined when there is none, or none that can be read: a crash tore it, so nobody holds it. */
function readHolder(file: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Holder;
  } catch (error) {
    if (error instanceof SyntaxError || codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Of another machine (a shared home) nothing can be known, so it counts as alive. */
function isAlive({pid, started, host}: Holder): boolean {
  return host !== hostname() || startOf(pid) === started;
}

/** When a process started; undefined when there is none. */
function startOf(pid: number): string | undefined {
  try {
    if (process.platform === 'linux') {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return fields[0] === 'Z' ? undefined : fields[19];
    }
    return runProgramSync('ps', ['-o', 'lstart=', '-p', String(pid)]).trim();
  } catch (error) {
    // No such process: no file, or ps ends with 1.
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ESRCH' || hasStatus(error)) return undefined;
    throw error;
  }
}

/** @returns false when there is something at `to` already. */
function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** @returns false when there is nothing at `from` any more. */
function renamed(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

function hasStatus(error: unknown): boolean {
  return error instanceof Error && 'status' in error;
}
