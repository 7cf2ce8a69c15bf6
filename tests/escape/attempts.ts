/** Every attempt, for whoever is held. */
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
