/** Finds files and folders with keys, which a confined command must not see. */
import {readdirSync, realpathSync, statSync} from 'node:fs';
import {resolve} from 'node:path';
import {getSecretPaths} from '../core/secrets/secret-paths.ts';

export interface HiddenPlaces {
  readonly home: string;
  /** `MINI_CC_HOME`, the folder with the sessions and settings of mini-cc. */
  readonly miniCcHome: string;
  /** Further files and directories (`sandbox.hide`); relative ones and `~/` are relative to the home directory. */
  readonly hide?: readonly string[];
}

export interface HiddenPath {
  /** Absolute, with links resolved. */
  readonly path: string;
  readonly isDirectory: boolean;
}

/** Returns the places that exist. `findSystemSecrets` finds those of the system itself. */
export function hiddenPaths({home, miniCcHome, hide = []}: HiddenPlaces): HiddenPath[] {
  const more = hide.map((path) => resolve(home, path.replace(/^~\//, '')));
  return existingPaths([...getSecretPaths(home, miniCcHome), ...more]);
}

/** Whether there is something to hide. Empty files and folders are skipped, because each mount costs time. */
export function hasContent({path, isDirectory}: HiddenPath): boolean {
  try {
    return isDirectory ? readdirSync(path).length > 0 : statSync(path).size > 0;
  } catch {
    return true;
  }
}

export function existingPaths(paths: readonly string[]): HiddenPath[] {
  return paths.map(existing).filter((found) => found !== undefined);
}

function existing(path: string): HiddenPath | undefined {
  // A place that this user cannot even stat (EACCES) needs no hiding.
  try {
    const isDirectory = statSync(path, {throwIfNoEntry: false})?.isDirectory();
    return isDirectory === undefined ? undefined : {path: realpathSync(path), isDirectory};
  } catch {
    return undefined;
  }
}
