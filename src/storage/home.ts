/**
 * Tests whether mini-cc's home can be written, and holds the files of a session that leaves nothing behind. These are
 * below the home, which no sandboxed command sees.
 */
import {randomBytes, randomUUID} from 'node:crypto';
import {closeSync, existsSync, openSync, readdirSync, rmSync, statSync, unlinkSync, writeSync} from 'node:fs';
import path from 'node:path';
import {type DiskFault, describeDiskFault} from '../core/util/files/disk-fault.ts';
import {createPrivateFolder} from '../core/util/files/private-file.ts';

/**
 * Writes a file of one byte and removes it. When the home does not exist yet, it uses the folder in which the home
 * would be created.
 * @returns undefined when the home can be written
 */
export function findHomeFault(home: string): DiskFault | undefined {
  try {
    // The file has the name of a draft, so the next start removes it when this process is killed here.
    const file = path.join(findFolder(home), `.mini-cc-draft-${process.pid}-${randomBytes(6).toString('hex')}`);
    const fd = openSync(file, 'wx', 0o600);
    try {
      writeSync(fd, '\n');
    } finally {
      closeSync(fd);
      unlinkSync(file);
    }
    return undefined;
  } catch (error) {
    const fault = describeDiskFault(error, home);
    if (!fault) throw error;
    return fault;
  }
}

function findFolder(place: string): string {
  return statSync(place, {throwIfNoEntry: false}) ? place : findFolder(path.dirname(place));
}

const FOLDER = 'temporary';

/** Creates the folder, and removes those of killed processes. @param home mini-cc's own folder */
export function createTemporaryHome(home: string): string {
  const all = path.join(home, FOLDER);
  for (const name of existsSync(all) ? readdirSync(all) : []) {
    if (!isAlive(Number.parseInt(name, 10))) rmSync(path.join(all, name), {recursive: true, force: true});
  }
  const own = path.join(all, `${process.pid}-${randomUUID()}`);
  createPrivateFolder(own);
  return own;
}

export function removeTemporaryHome(folder: string): void {
  rmSync(folder, {recursive: true, force: true});
}

/** If another process has the same id by now, the folder is removed at a later start. */
function isAlive(pid: number): boolean {
  return existsSync(`/proc/${pid}`) || (process.platform !== 'linux' && canSignal(pid));
}

function canSignal(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
