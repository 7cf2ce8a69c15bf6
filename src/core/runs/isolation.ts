/** Which isolation a run has. */
import type {Isolation} from '../contract/worktree.ts';

/** What a definition asks for is not taken away by the call. */
export function isolationOf({
  agent,
  isolation,
}: {
  readonly agent: {readonly isolation?: Isolation};
  readonly isolation?: Isolation;
}): Isolation {
  return agent.isolation === 'worktree' ? 'worktree' : (isolation ?? 'none');
}
