/**
 * Cleans up one directory's sessions at start. It archives runs that ended long enough ago, erases sessions that are
 * older than the retention time, if the user set one, and removes the temporary files that a killed mini-cc left in its
 * home, in the project's `.mini-cc`, and beside files that it wrote. Sessions that another mini-cc has open
 * are not changed.
 */
import {existsSync, readdirSync, rmSync, statSync} from 'node:fs';
import path from 'node:path';
import {UsageError} from '../../core/util/errors.ts';
import {removeDrafts} from '../../core/util/files/whole-file.ts';
import {LEDGER, listWrittenFolders} from '../checkpoints/ledger.ts';
import {readLastLines} from '../json-lines.ts';
import {archiveTranscript, findTranscript, listRunFolders, TRANSCRIPT} from './archive.ts';
import {isLeftLocked, isLocked, listLeftLockFiles, SessionLock} from './session-lock.ts';
import {ignoreUnreadable, parseEntry, REPAIRED, readHeader, readHeaderAndLast} from './transcript.ts';

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
  for (const entry of readdirSync(folder, {withFileTypes: true})) {
    // Saved rules lie beside the sessions.
    if (!entry.isDirectory()) continue;
    const {name} = entry;
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
 * Cleans up a session whose mini-cc was killed. It is locked, so that it is not in use meanwhile. Releasing removes the
 * lock, so that the next start skips it.
 */
export function cleanUpKilled(session: string, id: string, cwd: string): void {
  if (!isLeftLocked(session)) return;
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
    const getLast = () => readHeaderAndLast(file).last;
    if (isOlder(file, before) && ignoreUnreadable(getLast)?.type === 'end') archiveTranscript(run);
  }
}

/** Compares the time of the file, which is the time of its last line. */
function isOlder(file: string, time: number): boolean {
  const stat = statSync(file, {throwIfNoEntry: false});
  return stat !== undefined && stat.mtimeMs < time;
}

/** Bytes at the end of a transcript that are searched for the calls that ran when mini-cc was killed. */
const SEARCHED_BYTES = 256 * 1024;

/**
 * @param home folder of mini-cc
 * @param sessionsFolder folder of the project's sessions
 * @param root the project's folder
 */
function removeSharedLeftovers(home: string, sessionsFolder: string, root: string): void {
  const projectFolder = path.join(root, '.mini-cc');
  for (const each of [home, sessionsFolder, projectFolder]) {
    removeDrafts(each);
    removeDrafts(path.join(each, 'agents'));
  }
}

/**
 * Removes what the last mini-cc of this session was writing. The session must not be open in another process.
 * @param cwd folder to which relative paths of its calls refer
 */
function removeSessionLeftovers(session: string, cwd: string): void {
  if (!existsSync(session)) return;
  const names = readdirSync(session);
  for (const name of listLeftLockFiles(names)) rmSync(path.join(session, name), {force: true});
  rmSync(path.join(session, REPAIRED), {force: true});
  const files = path.join(session, 'checkpoints', 'files');
  const blobs = existsSync(files) ? readdirSync(files).map((name) => path.join(files, name)) : [];
  const transcripts = [session, ...listRunFolders(session)].flatMap((folder) => findTranscript(folder) ?? []);
  const ledger = ignoreUnreadable(() => readLastLines(path.join(session, 'checkpoints', LEDGER), SEARCHED_BYTES)) ?? [];
  const named = transcripts.flatMap((transcript) => listNamedFolders(transcript, cwd));
  const written = new Set([...named, ...listWrittenFolders(ledger)]);
  for (const folder of [session, ...blobs, ...written]) removeDrafts(folder);
}

/** Returns the folders of files that the last calls of a transcript name. */
function listNamedFolders(transcript: string, cwd: string): string[] {
  const lines = ignoreUnreadable(() => readLastLines(transcript, SEARCHED_BYTES)) ?? [];
  return lines.flatMap((line) => {
    const entry = parseEntry(line);
    if (entry?.type !== 'message' || typeof entry.message.content === 'string') return [];
    return entry.message.content.flatMap((block) => {
      const file = block.type === 'tool_use' ? getPath(block.input) : undefined;
      return file === undefined ? [] : [path.dirname(path.resolve(cwd, file))];
    });
  });
}

function getPath(input: unknown): string | undefined {
  if (typeof input !== 'object' || input === null || !('path' in input)) return undefined;
  return typeof input.path === 'string' ? input.path : undefined;
}
