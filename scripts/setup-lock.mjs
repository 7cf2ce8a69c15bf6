// One set-up at a time in one checkout: a folder is the lock, since making one either works or says that it is there.
import {appendFileSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {readIfThere} from './packages.mjs';

/** A lock whose owner did not get as far as to write its id is left by a crash after this time. */
const NAMELESS_MS = 5_000;
/** No set-up takes this long: the process that has the owner's id by now is another one. */
const LONGEST_MS = 15 * 60_000;

/**
 * Runs `work` while no other process is setting up this checkout.
 * @template T
 * @param {string} root
 * @param {(alsoOwnedBy: (pid: number) => void) => Promise<T>} work a process that it names holds the lock too: npm goes
 *   on when only this process is killed
 * @param {() => void} [onWait] called once when another process is at it
 * @returns {Promise<T>}
 */
export async function withSetupLock(root, work, onWait = () => undefined) {
  // dist/ is ignored by git, and unlike node_modules nothing empties it.
  const lock = path.join(root, 'dist', '.setup-lock');
  mkdirSync(path.dirname(lock), {recursive: true});
  for (let waited = false; !take(lock); waited = true) {
    if (!waited) onWait();
    await sleep(100);
    removeStale(lock);
  }
  try {
    return await work((pid) => appendFileSync(ownersFile(lock), `${pid}\n`));
  } finally {
    rmSync(lock, {recursive: true, force: true});
  }
}

function take(lock) {
  try {
    mkdirSync(lock);
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
  writeFileSync(ownersFile(lock), `${process.pid}\n`);
  return true;
}

function removeStale(lock) {
  const owners = readIfThere(ownersFile(lock));
  if (!isStale(lock, owners)) return;
  // Moved away before it is removed: of several that wait, one can move it. If in between another took the lock,
  // what was moved is not what was judged, and goes back.
  const away = `${lock}.${process.pid}`;
  try {
    renameSync(lock, away);
  } catch (error) {
    if (error.code === 'ENOENT') return;
    throw error;
  }
  if (readIfThere(ownersFile(away)) === owners) rmSync(away, {recursive: true, force: true});
  else renameSync(away, lock);
}

function ownersFile(lock) {
  return path.join(lock, 'owners');
}

function isStale(lock, owners) {
  const stats = statSync(lock, {throwIfNoEntry: false});
  if (stats === undefined) return false;
  const age = Date.now() - stats.mtimeMs;
  const pids = owners?.match(/\d+/g) ?? [];
  if (pids.length === 0) return age > NAMELESS_MS;
  return age > LONGEST_MS || !pids.some((pid) => isAlive(Number(pid)));
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
