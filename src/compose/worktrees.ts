/** The worktrees of a session's runs. What makes them is loaded with the first one. */
import {homedir} from 'node:os';
import type {Settings} from '../config/settings.ts';
import type {Checkpoints} from '../core/contract/checkpoints.ts';
import type {Emit} from '../core/contract/events.ts';
import type {Worktrees} from '../core/contract/worktree.ts';
import {isProtected} from '../core/permissions/files/paths.ts';
import {hiddenPaths} from '../sandbox/hidden-paths.ts';

export interface WorktreeOptions {
  /** The workspace, links resolved. */
  readonly root: string;
  /** `MINI_CC_HOME`. */
  readonly home: string;
  readonly settings: Settings;
  /** Of the session that is open now. */
  readonly sessionFolder: () => string;
  readonly checkpoints: Checkpoints;
  readonly emit: Emit;
}

export function worktreesOf({root, home, settings, sessionFolder, checkpoints, emit}: WorktreeOptions): Worktrees {
  let made: Promise<Worktrees> | undefined;
  const make = async () => {
    const {GitWorktrees} = await import('../storage/worktrees/git-worktrees.ts');
    return new GitWorktrees({
      ...{root, sessionFolder, isProtected},
      hidden: () => {
        const places = {home: homedir(), miniCcHome: home, hide: settings.sandbox?.hide ?? []};
        return hiddenPaths(places).map(({path}) => path);
      },
      warn: (text) => emit({type: 'notice', level: 'warning', text}),
      writing: (owner, work) => checkpoints.around(owner, work),
    });
  };
  return {
    open: async (owner, signal) => {
      made ??= make();
      return (await made).open(owner, signal);
    },
    settled: async () => (await made)?.settled(),
  };
}
