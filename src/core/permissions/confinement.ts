/** Which hold a command runs under: decided once, for whoever permits it and whoever runs it. */
import type {Confinement} from '../contract/access.ts';

/**
 * `plain`: not held. `read-only`, `workspace-write`: held by the sandbox with that profile.
 * `proven-only`: there is no sandbox, so only what is proven to read runs, plainly. `refused`: nothing runs.
 */
export type Hold = 'plain' | 'read-only' | 'workspace-write' | 'proven-only' | 'refused';

/** @param available the sandbox was found to work here. @param unconfined the call asks to run outside of it. */
export function holdOf(confinement: Confinement, available: boolean, unconfined: boolean): Hold {
  switch (confinement) {
    case 'none':
      return 'plain';
    case 'read-only':
      return available ? 'read-only' : 'proven-only';
    case 'worktree':
      return available ? 'workspace-write' : 'proven-only';
    case 'workspace-write':
      if (unconfined) return 'plain';
      return available ? 'workspace-write' : 'refused';
  }
}
