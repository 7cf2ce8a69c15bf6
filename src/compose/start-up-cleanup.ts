/** What is due since mini-cc last ran in this directory. Behind the first prompt: only the session's end waits for it. */
import {existsSync, readdirSync} from 'node:fs';
import path from 'node:path';
import {setImmediate} from 'node:timers/promises';
import type {Emit} from '../core/contract/events.ts';
import {WORKTREES} from '../core/contract/worktree.ts';
import {messageOf} from '../core/util/errors.ts';
import {type CleanupOptions, cleanUpAtStart} from '../storage/sessions/start-up-cleanup.ts';

/** Never rejects: what went wrong is a notice. */
export async function upkeep(options: CleanupOptions, emit: Emit): Promise<void> {
  await setImmediate();
  const warn = (text: string) => emit({type: 'notice', level: 'warning', text});
  try {
    // Before anything is erased.
    await keepLeftOvers(options.folder, warn);
    cleanUpAtStart(options);
  } catch (error) {
    warn(`old transcripts were not archived: ${messageOf(error)}`);
  }
}

/** What runs of a mini-cc that died have changed in their worktrees is kept, each as a patch. */
async function keepLeftOvers(folder: string, say: (text: string) => void): Promise<void> {
  if (!existsSync(folder)) return;
  const sessions = readdirSync(folder).map((name) => path.join(folder, name));
  const concerned = sessions.filter((session) => existsSync(path.join(session, WORKTREES)));
  if (concerned.length === 0) return;
  const {recoverWorktree, listRunsWithWorktree} = await import('../storage/worktrees/recovery.ts');
  for (const session of concerned) {
    for (const run of listRunsWithWorktree(session)) {
      const told = await recoverWorktree(session, run);
      if (told !== undefined) say(told);
    }
  }
}
