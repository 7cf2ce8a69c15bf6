/**
 * Identifies processes, so that files of a killed mini-cc can be distinguished from those that a running one uses. A
 * process is identified by its id and start time, since ids are reused, and by the machine or container where it runs.
 */
import {readFileSync, readlinkSync} from 'node:fs';
import {hostname} from 'node:os';
import {getErrorCode, tryOr} from './errors.ts';
import {runProgramSync} from './processes.ts';

export interface ProcessOwner extends ProcessPlace {
  readonly pid: number;
  /** Start time in the system's own units, only for comparison. */
  readonly started: string;
}

/** Returns the owner record of this process. */
export function getOwnRecord(): ProcessOwner {
  return {pid: process.pid, started: getStartTime(process.pid) ?? '', ...getProcessPlace()};
}

/**
 * It cannot be known whether a process of another machine or container still runs.
 * @param here the place of this process, which a caller that asks about many owners reads once
 */
export function getOwnerState(owner: ProcessOwner, here = getProcessPlace()): 'alive' | 'dead' | 'elsewhere' {
  switch (comparePlaces(owner, here)) {
    case 'same':
      return getStartTime(owner.pid) === owner.started ? 'alive' : 'dead';
    case 'before restart':
      return 'dead';
    default:
      return 'elsewhere';
  }
}

/** Returns when a process started; undefined when it does not exist. */
export function getStartTime(pid: number): string | undefined {
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
  const boot = tryOr(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(), undefined);
  const machine = tryOr(() => readFileSync('/etc/machine-id', 'utf8').trim(), undefined);
  const pidNamespace = tryOr(() => readlinkSync('/proc/self/ns/pid'), undefined);
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
