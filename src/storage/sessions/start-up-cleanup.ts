/**
 * What is due since mini-cc last ran in this directory: runs are archived, and sessions erased where the user set a
 * number of days. A session that another mini-cc has open is left to that one.
 */
import {existsSync, readdirSync, rmSync, statSync} from 'node:fs';
import path from 'node:path';
import {archiveIn, isFinished, runFoldersOf, TRANSCRIPT} from './run-files.ts';
import {isLocked} from './session-lock.ts';
import {headerOf} from './transcript.ts';

export interface HousekeepingOptions {
  /** `<home>/projects/<slug>` */
  readonly folder: string;
  /** Two directories may share a folder: only sessions of this one are touched. */
  readonly cwd: string;
  /** Minutes after its end when a run is archived; 0 = never. */
  readonly archiveAfterMinutes: number;
  /** Days after its last word when a session is erased; 0 = never. */
  readonly retentionDays: number;
  /** Of the session that is open here, which looks after itself. */
  readonly openSession: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

export function keepHouse(options: HousekeepingOptions): void {
  const {folder, cwd, archiveAfterMinutes, retentionDays, openSession, now} = options;
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    const session = path.join(folder, name);
    const transcript = path.join(session, TRANSCRIPT);
    if (name === openSession || isLocked(session) || headerOf(transcript)?.cwd !== cwd) continue;
    if (retentionDays > 0 && isOlder(transcript, now - retentionDays * DAY)) {
      rmSync(session, {recursive: true, force: true});
    } else if (archiveAfterMinutes > 0) archiveRuns(session, now - archiveAfterMinutes * MINUTE);
  }
}

/** One that was cut off has no end yet: it stays as it is until its session goes on. */
function archiveRuns(session: string, before: number): void {
  for (const run of runFoldersOf(session)) {
    const file = path.join(run, TRANSCRIPT);
    if (isOlder(file, before) && isFinished(file)) archiveIn(run);
  }
}

/** The last line of a transcript is its newest, so the file's own time says when that was. */
function isOlder(file: string, time: number): boolean {
  const stat = statSync(file, {throwIfNoEntry: false});
  return stat !== undefined && stat.mtimeMs < time;
}
