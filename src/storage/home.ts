/** Tests whether mini-cc's home can be written. */
import {randomBytes} from 'node:crypto';
import {closeSync, openSync, statSync, unlinkSync, writeSync} from 'node:fs';
import path from 'node:path';
import {type DiskFault, describeDiskFault} from '../core/util/files/disk-fault.ts';

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
