/**
 * Holds the files of a session that leaves nothing behind. They are below mini-cc's own folder, which no sandboxed
 * command sees.
 */
import {randomUUID} from 'node:crypto';
import {existsSync, readdirSync, rmSync} from 'node:fs';
import path from 'node:path';
import {createPrivateFolder} from '../../core/util/files/private-file.ts';

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

/** When another process has got the number, the folder stays until a later start. */
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
