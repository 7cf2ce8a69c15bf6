/**
 * Cleans up one directory's sessions at start. It archives runs that ended long enough ago, erases sessions that are
 * older than the retention time, if the user set one, and removes half-written files. Sessions that another mini-cc has
 * open are not changed.
 */
import {existsSync, readdirSync, rmSync, statSync} from 'node:fs';
import path from 'node:path';
import {UsageError} from '../../core/util/errors.ts';
import {archiveTranscript, listRunFolders, TRANSCRIPT} from './archive.ts';
import {removeSessionLeftovers, removeSharedLeftovers} from './leftovers.ts';
import {isLeftLocked, isLocked, SessionLock} from './session-lock.ts';
import {readHeader, readHeaderAndLast} from './transcript.ts';

export interface CleanupOptions {
  /** `<home>/projects/<slug>` */
  readonly folder: string;
  /** Only sessions of this directory are changed, because two directories may share a folder. */
  readonly cwd: string;
  /** Minutes from the end of a run to its archiving; 0 = never. */
  readonly archiveAfterMinutes: number;
  /** Days from the last line of a session to its erasure; 0 = never. */
  readonly retentionDays: number;
  /** Id of the session that this process has open. It is not changed. */
  readonly openSession: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

export function cleanUpAtStart(options: CleanupOptions): void {
  const {folder, cwd, archiveAfterMinutes, retentionDays, openSession, now} = options;
  if (!existsSync(folder)) return;
  removeSharedLeftovers(path.join(folder, '..', '..'), folder, cwd);
  // The mini-cc that had this session open last may have been killed.
  removeSessionLeftovers(path.join(folder, openSession), cwd);
  for (const name of readdirSync(folder)) {
    const session = path.join(folder, name);
    const transcript = path.join(session, TRANSCRIPT);
    if (name === openSession || isLocked(session)) continue;
    const isKilled = isLeftLocked(session);
    const isErased = retentionDays > 0 && isOlder(transcript, now - retentionDays * DAY);
    const runs = archiveAfterMinutes > 0 && !isErased ? listRunFolders(session) : [];
    // Most sessions need nothing, and a start must not read them all.
    if ((!isKilled && !isErased && runs.length === 0) || readHeader(transcript)?.cwd !== cwd) continue;
    if (isKilled) cleanUpKilled(session, name, cwd);
    if (isErased) rmSync(session, {recursive: true, force: true});
    archiveRuns(runs, now - archiveAfterMinutes * MINUTE);
  }
}

/**
 * Locks the session, so that it is not in use meanwhile. Releasing removes the lock, so that the next start skips it.
 */
function cleanUpKilled(session: string, id: string, cwd: string): void {
  const lock = new SessionLock(session, id);
  try {
    lock.acquire();
    removeSessionLeftovers(session, cwd);
  } catch (error) {
    // Another mini-cc locked the session first.
    if (!(error instanceof UsageError)) throw error;
  } finally {
    lock.release();
  }
}

/** Archives ended runs. A run that was cut off has no end, and stays as it is until its session continues. */
function archiveRuns(runs: readonly string[], before: number): void {
  for (const run of runs) {
    const file = path.join(run, TRANSCRIPT);
    if (isOlder(file, before) && readHeaderAndLast(file).last?.type === 'end') archiveTranscript(run);
  }
}

/** Compares the time of the file, which is the time of its last line. */
function isOlder(file: string, time: number): boolean {
  const stat = statSync(file, {throwIfNoEntry: false});
  return stat !== undefined && stat.mtimeMs < time;
}
