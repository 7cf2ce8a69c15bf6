/**
 * Start-up cleanup of one directory's sessions: archives runs that ended long enough ago, and erases sessions that are
 * older than the retention time, if the user set one; removes half-written files. Sessions that another mini-cc has open are left alone.
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
  /** Two directories may share a folder: only sessions of this directory are changed. */
  readonly cwd: string;
  /** Minutes after its end when a run is archived; 0 = never. */
  readonly archiveAfterMinutes: number;
  /** Days after its last line when a session is erased; 0 = never. */
  readonly retentionDays: number;
  /** The id of the session that this process has open: it is left alone. */
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
  // A killed mini-cc may have had it open last.
  removeSessionLeftovers(path.join(folder, openSession), cwd);
  for (const name of readdirSync(folder)) {
    const session = path.join(folder, name);
    const transcript = path.join(session, TRANSCRIPT);
    if (name === openSession || isLocked(session)) continue;
    const isKilled = isLeftLocked(session);
    const isErased = retentionDays > 0 && isOlder(transcript, now - retentionDays * DAY);
    const runs = archiveAfterMinutes > 0 && !isErased ? listRunFolders(session) : [];
    // Most sessions need nothing: a start must not read them all.
    if ((!isKilled && !isErased && runs.length === 0) || readHeader(transcript)?.cwd !== cwd) continue;
    if (isKilled) cleanUpKilled(session, name, cwd);
    if (isErased) rmSync(session, {recursive: true, force: true});
    archiveRuns(runs, now - archiveAfterMinutes * MINUTE);
  }
}

/** Locked meanwhile, so that it is not in use; then its lock is removed, and the next start does not look again. */
function cleanUpKilled(session: string, id: string, cwd: string): void {
  const lock = new SessionLock(session, id);
  try {
    lock.acquire();
    removeSessionLeftovers(session, cwd);
  } catch (error) {
    // Another mini-cc was faster.
    if (!(error instanceof UsageError)) throw error;
  } finally {
    lock.release();
  }
}

/** A run that was cut off has no end yet: it stays as it is until its session goes on. */
function archiveRuns(runs: readonly string[], before: number): void {
  for (const run of runs) {
    const file = path.join(run, TRANSCRIPT);
    if (isOlder(file, before) && readHeaderAndLast(file).last?.type === 'end') archiveTranscript(run);
  }
}

/** By the time of the file, which is the time of its last line. */
function isOlder(file: string, time: number): boolean {
  const stat = statSync(file, {throwIfNoEntry: false});
  return stat !== undefined && stat.mtimeMs < time;
}
