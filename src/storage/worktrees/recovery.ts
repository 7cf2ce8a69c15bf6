/** Recovers worktrees that a crash left: their changes are stored as a patch, and the trees are removed. */
import {existsSync, readdirSync} from 'node:fs';
import {getErrorMessage} from '../../core/util/errors.ts';
import {isLocked, SessionLock} from '../sessions/session-lock.ts';
import {Trees} from '../trees/trees.ts';
import {keepAll} from './bring-back.ts';
import {keepCommits} from './commit-bundle.ts';
import {getWorktreePaths, getWorktreesFolder, readStart, removeTree} from './worktree-folder.ts';

const WHY = 'mini-cc ended before the run did';

/** Returns the ids of all runs of a session that have a worktree. */
export function listRunsWithWorktree(sessionFolder: string): string[] {
  const folder = getWorktreesFolder(sessionFolder);
  return existsSync(folder) ? readdirSync(folder) : [];
}

/**
 * Stores the changes of a run's worktree, and removes it, unless a live mini-cc works in it. Never rejects.
 * @returns lines for the user; undefined when there was nothing to store
 */
export async function recoverWorktree(sessionFolder: string, runId: string): Promise<string | undefined> {
  const {folder, git, keepIn} = getWorktreePaths(sessionFolder, runId);
  if (!existsSync(folder) || isLocked(folder)) return undefined;
  const lock = new SessionLock(folder, runId);
  let label = runId;
  try {
    lock.acquire();
    const start = readStart(folder);
    if (start) label = start.label;
    const trees = start && new Trees(git, {top: start.top});
    const kept = trees && (await keepAll({origin: start.origin, trees, keepIn}, start.top, WHY));
    const commits = start ? await keepCommits({tree: start.top, gitDir: git, main: start.origin.top, keepIn}) : [];
    await removeTree(folder);
    const lines = [...(kept ?? []), ...commits];
    return lines.length === 0 ? undefined : `${label}: ${WHY}. ${lines.join('\n')}`;
  } catch (error) {
    return `${label}: the changes in its worktree could not be kept (${getErrorMessage(error)}). They are still in ${folder}`;
  } finally {
    lock.release();
  }
}
