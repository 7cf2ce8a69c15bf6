/** Explains why mini-cc cannot write to a place, and whether waiting may help. */
import {statfsSync, statSync} from 'node:fs';
import path from 'node:path';
import {getErrorCode, getErrorMessage, tryOr} from '../errors.ts';

export interface DiskFault {
  /** One line: what is wrong, where, and what to do. */
  readonly text: string;
  /**
   * Whether the fault may pass when space is freed, a quota is raised or other files are closed. Other faults need a
   * person and a new start.
   */
  readonly mayPass: boolean;
}

/**
 * @param folder folder that could not be written to; it need not exist
 * @returns undefined for errors that are not the file system's
 */
export function describeDiskFault(error: unknown, folder: string): DiskFault | undefined {
  const code = getErrorCode(error);
  if (code === undefined || !(error instanceof Error && 'syscall' in error)) return undefined;
  const where = `nothing can be written to ${folder}`;
  const mayPass = ['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE'].includes(code);
  if (code === 'EMFILE' || code === 'ENFILE') return {text: `${NO_DESCRIPTORS}: ${where}`, mayPass};
  if (Object.hasOwn(FAULTS, code)) {
    const [what, remedy] = FAULTS[code]!;
    return {text: `${what}: ${where}${describePlace(folder)}. ${remedy}`, mayPass};
  }
  return code === 'EACCES' || code === 'EPERM'
    ? {text: `Permission denied: ${where}. Change its permissions, or set ${ELSEWHERE}`, mayPass}
    : {text: `N${where.slice(1)} (${getErrorMessage(error).split(', ')[0]}). Set ${ELSEWHERE}`, mayPass};
}

/** Advice for the error `EMFILE`. */
export const NO_DESCRIPTORS = 'mini-cc has no file descriptors left (start it with a higher limit: ulimit -n 1024)';
const ELSEWHERE = 'MINI_CC_HOME to a folder that can be written';
const FAULTS: Readonly<Record<string, readonly [what: string, remedy: string]>> = {
  ENOSPC: ['The disk is full', 'Free space there'],
  EDQUOT: ['Your disk quota is used up', 'Free space there'],
  EROFS: ['The file system is read-only', `Set ${ELSEWHERE}`],
  EIO: ['The disk has an error (EIO)', `Check that disk, or set ${ELSEWHERE}`],
};

/** Formats ` (file system mounted at /home, 0 B free)`, or an empty text if the system does not report it. */
function describePlace(folder: string): string {
  return tryOr(() => {
    const existing = findExisting(folder);
    const {bavail, bsize, files, ffree} = statfsSync(existing);
    const free = files > 0 && ffree === 0 ? 'no file more fits' : `${formatBytes(bavail * bsize)} free`;
    return ` (file system mounted at ${findMount(existing)}, ${free})`;
  }, '');
}

function findExisting(folder: string): string {
  return statSync(folder, {throwIfNoEntry: false}) ? folder : findExisting(path.dirname(folder));
}

/** Returns the highest folder above that is on the same device. */
function findMount(folder: string): string {
  const above = path.dirname(folder);
  return above === folder || statSync(above).dev !== statSync(folder).dev ? folder : findMount(above);
}

function formatBytes(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  return `${Math.floor(bytes / 1024 ** power)} ${units[power]}`;
}
