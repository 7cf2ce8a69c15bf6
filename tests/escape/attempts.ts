/** Every attempt, for whoever is held. */
import {createSandbox} from '../../src/sandbox/index.ts';
import {changingFiles} from './changing-files.ts';
import {changingGit, changingTheRepository} from './changing-git.ts';
import {reachingOut} from './reaching-out.ts';
import {readingKeys} from './reading-keys.ts';

export const ATTEMPTS = {
  ...readingKeys,
  ...changingFiles,
  ...changingGit,
  ...changingTheRepository,
  ...reachingOut,
};

/** Whether there is a sandbox on this machine. */
export async function isHeldHere(): Promise<boolean> {
  return (await createSandbox({home: '/nonexistent', miniCcHome: '/nonexistent'}).status()).available;
}
