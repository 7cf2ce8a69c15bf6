/** Worktrees of runs whose mini-cc died: their changes are kept as a patch, once, and the trees go. */
import {existsSync, readdirSync} from 'node:fs';
import {messageOf} from '../../core/util/errors.ts';
import {isLocked, SessionLock} from '../sessions/session-lock.ts';
import {keepAll} from './bring-back.ts';
import {keepCommits} from './commit-bundle.ts';
import {Snapshots} from './snapshots.ts';
import {placesOf, readStart, removeTree, worktreesOf} from './worktree-folder.ts';

const WHY = 'mini-cc ended before the run did';

/** The runs of a session that have a worktree, whoever works there. */
export function runsWithWorktree(sessionFolder: string): string[] {
  const folder = worktreesOf(sessionFolder);
  return existsSync(folder) ? readdirSync(folder) : [];
}

/**
 * For one that a live mini-cc works in, nothing is done.
 * @returns a line for a person; undefined when there was nothing to keep. Never rejects.
 */
export async function recover(sessionFolder: string, runId: string): Promise<string | undefined> {
  const {folder, git, keepIn} = placesOf(sessionFolder, runId);
  if (!existsSync(folder) || isLocked(folder)) return undefined;
  const lock = new SessionLock(folder, runId);
  let label = runId;
  try {
    lock.acquire();
    const start = readStart(folder);
    if (start) label = start.label;
    const kept =
      start &&
      (await keepAll({
        ...{origin: start.origin, snapshots: new Snapshots(git, start.top), tree: start.top, keepIn, scratch: folder},
        why: WHY,
      }));
    const commits = start ? await keepCommits({tree: start.top, gitDir: git, main: start.origin.top, keepIn}) : [];
    await removeTree(folder);
    const told = [...(kept ? [kept.explanation] : []), ...commits];
    return told.length === 0 ? undefined : `${label}: ${WHY}. ${told.join('\n')}`;
  } catch (error) {
    return `${label}: what it changed in its worktree could not be kept (${messageOf(error)}). It is still in ${folder}`;
  } finally {
    lock.release();
  }
}
