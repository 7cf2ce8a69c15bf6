/**
 * Finds the transcript files of runs: `<session>/subagents/<run>/session.jsonl`, which are renamed when the run is
 * archived.
 */
import {existsSync, readdirSync, renameSync} from 'node:fs';
import path from 'node:path';

/** Name of the transcript in the folder of a session or run. */
export const TRANSCRIPT = 'session.jsonl';
const ARCHIVED = `${TRANSCRIPT}.deleted.`;

export function listRunFolders(sessionFolder: string): string[] {
  const parent = path.join(sessionFolder, 'subagents');
  if (!existsSync(parent)) return [];
  const runs = readdirSync(parent, {withFileTypes: true}).filter((entry) => entry.isDirectory());
  return runs.map(({name}) => path.join(parent, name));
}

/** Renames the transcript in a run's folder, without changing its content. @returns its new path */
export function archiveTranscript(runFolder: string): string {
  const stamp = new Date().toISOString().replaceAll(':', '-');
  const archived = path.join(runFolder, `${ARCHIVED}${stamp}`);
  renameSync(path.join(runFolder, TRANSCRIPT), archived);
  return archived;
}

/** Returns the transcript of a run, archived or not. */
export function findTranscript(runFolder: string): string | undefined {
  const file = path.join(runFolder, TRANSCRIPT);
  return existsSync(file) ? file : findArchived(runFolder);
}

/** Returns the archived transcript of a run; the newest one when there are several. */
export function findArchived(runFolder: string): string | undefined {
  if (!existsSync(runFolder)) return undefined;
  const name = readdirSync(runFolder)
    .filter((each) => each.startsWith(ARCHIVED))
    .sort()
    .at(-1);
  return name === undefined ? undefined : path.join(runFolder, name);
}
