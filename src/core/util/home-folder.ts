/** Finds the folders of the user, also where `HOME` or `MINI_CC_HOME` is empty or relative. */
import {homedir, userInfo} from 'node:os';
import path from 'node:path';
import {UsageError} from './errors.ts';

/** Returns an absolute path. An empty `HOME` counts as not set. @throws UsageError when there is no home */
export function getUserHome(): string {
  try {
    return path.resolve(homedir() || userInfo().homedir);
  } catch (error) {
    throw new UsageError('HOME names no folder: set it to the path of your home folder', {cause: error});
  }
}

/** Returns mini-cc's own folder as an absolute path. @throws as `getUserHome` */
export function getMiniCcHome(): string {
  return path.resolve(process.env.MINI_CC_HOME || path.join(getUserHome(), '.mini-cc'));
}
