/**
 * Ensures that only one mini-cc at a time writes a session. The lock is a file beside the transcript that names the
 * process and the place where it runs.
 *
 * The lock of a process that has ended on this machine is taken over. Whether a process of another machine or container
 * (with a shared home) still runs cannot be found out, so its lock is taken over only when the user says so.
 */
import {linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {getErrorCode, UsageError} from '../../core/util/errors.ts';
import {
  comparePlaces,
  getOwnerState,
  getOwnRecord,
  getProcessPlace,
  getStartTime,
  type ProcessOwner,
} from '../../core/util/process-owner.ts';

const LOCK = 'lock';
/** Names of temporary files beside the lock, which a killed process leaves. */
const TEMPORARY = /^lock\.(?:stale\.)?(\d+)$/;

interface Holder extends ProcessOwner {
  readonly version: 1;
}

export interface LockOptions {
  /** Also take over the lock of another machine or container. */
  readonly takeOver?: boolean;
}

export class SessionLock {
  readonly #file: string;
  /** Inode of the lock file while this process has the lock. */
  #held: bigint | undefined;

  constructor(
    private readonly folder: string,
    private readonly sessionId: string,
    private readonly options: LockOptions = {},
  ) {
    this.#file = path.join(folder, LOCK);
  }

  /**
   * Must be called before each write. When this process has the lock, it only checks that no other process took it
   * over.
   * @throws UsageError when another process has the lock, and Error of the file system when it cannot be written
   */
  acquire(): void {
    if (this.#held !== undefined && this.#isStillHeld()) return;
    const own = path.join(this.folder, `${LOCK}.${process.pid}`);
    try {
      this.#write(own);
      // The lock is created by a hard link, so it is complete from the first moment, and only one of several processes
      // can create it.
      while (!succeeds(() => linkSync(own, this.#file), 'EEXIST')) this.#removeStale();
      this.#held = getInode(this.#file);
    } finally {
      rmSync(own, {force: true});
    }
  }

  release(): void {
    const isOurs = this.#held !== undefined && this.#held === getInode(this.#file);
    this.#held = undefined;
    if (isOurs) rmSync(this.#file, {force: true});
  }

  #write(own: string): void {
    const holder: Holder = {version: 1, ...getOwnRecord()};
    mkdirSync(this.folder, {recursive: true, mode: 0o700});
    writeFileSync(own, JSON.stringify(holder), {mode: 0o600});
  }

  /**
   * False when the lock file was deleted, so that it must be created again. @throws UsageError when another process has
   * the lock
   */
  #isStillHeld(): boolean {
    const now = getInode(this.#file);
    if (now === this.#held || now === undefined) return now !== undefined;
    const holder = readHolder(this.#file);
    const who = holder ? ` by process ${holder.pid} on ${holder.host}` : '';
    throw new UsageError(`Session ${this.sessionId} was taken over${who}: nothing more is written to it from here`);
  }

  /** @throws UsageError when the process of the lock may be alive */
  #removeStale(): void {
    const holder = readHolder(this.#file);
    const state = getState(holder);
    if (holder && state === 'alive') {
      throw new UsageError(
        `Session ${this.sessionId} is open in another mini-cc (process ${holder.pid}): leave that one first, or start a new session`,
      );
    }
    if (holder && state === 'elsewhere' && !this.options.takeOver) {
      throw new UsageError(
        `${describeForeign(this.folder, this.sessionId, holder)}. If that one has ended: add --take-over. Or start a new session`,
      );
    }
    const aside = path.join(this.folder, `${LOCK}.stale.${process.pid}`);
    if (!succeeds(() => renameSync(this.#file, aside), 'ENOENT')) return;
    // Another process may have taken over the lock after it was read here. Put it back in that case.
    if (getState(readHolder(aside)) === 'alive') succeeds(() => linkSync(aside, this.#file), 'EEXIST');
    rmSync(aside, {force: true});
  }
}

/** Whether a process has the session of this folder open, or may have: a process elsewhere cannot be checked. */
export function isLocked(folder: string): boolean {
  return ['alive', 'elsewhere'].includes(getState(readHolder(path.join(folder, LOCK))));
}

/** Whether a process that was killed on this machine left its lock. */
export function isLeftLocked(folder: string): boolean {
  const holder = readHolder(path.join(folder, LOCK));
  return holder !== undefined && getState(holder) === 'dead';
}

/** Says who has the lock when it is a process of another machine or container. */
export function findForeignLock(folder: string, sessionId: string): string | undefined {
  const holder = readHolder(path.join(folder, LOCK));
  return holder && getState(holder) === 'elsewhere' ? describeForeign(folder, sessionId, holder) : undefined;
}

/** @param names names in a session's folder @returns those of temporary files of killed processes */
export function listLeftLockFiles(names: readonly string[]): string[] {
  return names.filter((name) => {
    const pid = TEMPORARY.exec(name)?.[1];
    return pid !== undefined && getStartTime(Number(pid)) === undefined;
  });
}

function describeForeign(folder: string, sessionId: string, holder: Holder): string {
  const {mtimeMs} = statSync(path.join(folder, LOCK));
  const where =
    comparePlaces(holder, getProcessPlace()) === 'other container' ? 'in another container' : 'on another machine';
  const who = `mini-cc ${where} (${holder.host}, process ${holder.pid})`;
  return `Session ${sessionId} is locked by ${who}, since ${formatAge(Date.now() - mtimeMs)}`;
}

/** Formats an age such as `3 min`. */
function formatAge(ms: number): string {
  const minutes = Math.max(0, Math.round(ms / 60_000));
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}

function getInode(file: string): bigint | undefined {
  return statSync(file, {bigint: true, throwIfNoEntry: false})?.ino;
}

/** Undefined without a lock file, and for one that a crash left incomplete. No process has the lock in these cases. */
function readHolder(file: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Holder;
  } catch (error) {
    if (error instanceof SyntaxError || getErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function getState(holder: Holder | undefined): ReturnType<typeof getOwnerState> {
  return holder ? getOwnerState(holder) : 'dead';
}

/** @returns false when the act fails with this code of the system */
function succeeds(act: () => void, code: string): boolean {
  try {
    act();
    return true;
  } catch (error) {
    if (getErrorCode(error) === code) return false;
    throw error;
  }
}
