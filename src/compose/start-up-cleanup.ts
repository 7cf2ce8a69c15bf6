/**
 * Cleans up after earlier sessions of this directory. It runs beside the first prompt, and only the session's end waits
 * for it.
 */
import {existsSync, readdirSync} from 'node:fs';
import {homedir} from 'node:os';
import path from 'node:path';
import {setImmediate} from 'node:timers/promises';
import type {Emit} from '../core/contract/events.ts';
import {WORKTREES} from '../core/contract/worktree.ts';
import {getErrorMessage} from '../core/util/errors.ts';
import {removeLeftTemporaryFolders} from '../core/util/files/temporary-folder.ts';
import {removeLeftPlaceholders} from '../sandbox/protected-places.ts';
import {type CleanupOptions, cleanUpAtStart} from '../storage/sessions/start-up-cleanup.ts';

/** Never rejects: an error is a notice. @param home mini-cc's own folder, also for a session with a temporary one */
export async function runStartUpCleanup(home: string, options: CleanupOptions, emit: Emit): Promise<void> {
  await setImmediate();
  removeLeftPlaceholders(options.cwd, homedir());
  removeLeftTemporaryFolders(home);
  const warn = (text: string) => emit({type: 'notice', level: 'warning', text});
  try {
    // Worktrees are recovered before anything is erased.
    await recoverWorktrees(options.folder, warn);
    cleanUpAtStart(options);
  } catch (error) {
    warn(`old transcripts were not archived: ${getErrorMessage(error)}`);
  }
}

/** Saves as patches what runs changed in their worktrees before their mini-cc was killed. */
async function recoverWorktrees(folder: string, warn: (text: string) => void): Promise<void> {
  if (!existsSync(folder)) return;
  const sessions = readdirSync(folder).map((name) => path.join(folder, name));
  const withWorktrees = sessions.filter((session) => existsSync(path.join(session, WORKTREES)));
  if (withWorktrees.length === 0) return;
  const {recoverWorktree, listRunsWithWorktree} = await import('../storage/worktrees/git-worktrees.ts');
  for (const session of withWorktrees) {
    for (const run of listRunsWithWorktree(session)) {
      const result = await recoverWorktree(session, run);
      if (result !== undefined) warn(result);
    }
  }
}
