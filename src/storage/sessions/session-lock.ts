/**
 * Ensures that only one mini-cc at a time writes a session. The lock is a file beside the transcript that names the
 * process and the place where it runs. A process is identified by its id and start time, since ids are reused.
 *
 * The lock of a process that has ended on this machine is taken over. Whether a process of another machine or container
 * (with a shared home) still runs cannot be found out, so its lock is taken over only when the user says so.
 */
import {linkSync, mkdirSync, readFileSync, readlinkSync, renameSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {hostname} from 'node:os';
import path from 'node:path';
import {getErrorCode, UsageError} from '../../core/util/errors.ts';
import {runProgramSync} from '../../core/util/processes.ts';

const LOCK = 'lock';
/** Names of temporary files beside the lock, which a killed process leaves. */
const TEMPORARY = /^lock\.(?:stale\.)?(\d+)$/;

interface Holder extends ProcessPlace {
  readonly version: 1;
  readonly pid: number;
  /** Start time in the system's own units, only for comparison. */
  readonly started: string;
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
      while (!tryLink(own, this.#file)) this.#removeStale();
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
    const holder: Holder = {
      version: 1,
      pid: process.pid,
      started: getStartTime(process.pid) ?? '',
      ...getProcessPlace(),
    };
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
    if (!tryRename(this.#file, aside)) return;
    // Another process may have taken over the lock after it was read here. Put it back in that case.
    if (getState(readHolder(aside)) === 'alive') tryLink(aside, this.#file);
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

function getState(holder: Holder | undefined): 'alive' | 'dead' | 'elsewhere' {
  if (!holder) return 'dead';
  switch (comparePlaces(holder, getProcessPlace())) {
    case 'same':
      return getStartTime(holder.pid) === holder.started ? 'alive' : 'dead';
    case 'before restart':
      return 'dead';
    default:
      return 'elsewhere';
  }
}

/** Returns when a process started; undefined when it does not exist. */
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

/** Renames a file. @returns false when `from` does not exist */
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

export interface ProcessPlace {
  readonly host: string;
  /**
   * Id that changes at each start of the machine. This field and the following ones exist only on Linux, and not in
   * locks of earlier versions.
   */
  readonly boot?: string;
  /** Id of the installed system. */
  readonly machine?: string;
  /** Id of the container's process namespace, since containers on one machine have process ids of their own. */
  readonly pidNamespace?: string;
}

/** The namespace of the machine itself has this number in every Linux. */
const OF_MACHINE = 'pid:[4026531836]';

export function getProcessPlace(): ProcessPlace {
  const boot = tryRead(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
  const machine = tryRead(() => readFileSync('/etc/machine-id', 'utf8').trim());
  const pidNamespace = tryRead(() => readlinkSync('/proc/self/ns/pid'));
  return {host: hostname(), ...(boot && {boot}), ...(machine && {machine}), ...(pidNamespace && {pidNamespace})};
}

/**
 * @returns `before restart` for the same machine before it was restarted. Containers of different machines may have
 * equal names and equal system ids (of one image), so this is returned only for processes outside of containers.
 */
export function comparePlaces(
  there: ProcessPlace,
  here: ProcessPlace,
): 'same' | 'before restart' | 'other container' | 'other machine' {
  // One of the two comes from an earlier version, or is not on Linux.
  if (there.boot === undefined || here.boot === undefined) return there.host === here.host ? 'same' : 'other machine';
  if (there.boot === here.boot) return there.pidNamespace === here.pidNamespace ? 'same' : 'other container';
  const isMachine = there.pidNamespace === OF_MACHINE && here.pidNamespace === OF_MACHINE;
  const isSame = isMachine && there.host === here.host && there.machine !== undefined && there.machine === here.machine;
  return isSame ? 'before restart' : 'other machine';
}

function tryRead(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
