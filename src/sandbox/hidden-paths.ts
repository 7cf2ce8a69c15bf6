/** Files and folders with keys, which a confined command must not see. */
import {readdirSync, realpathSync, statSync} from 'node:fs';
import {resolve} from 'node:path';
import {getSecretPaths} from '../core/secrets/secret-paths.ts';

export interface HiddenPlaces {
  /** The user's home directory. */
  readonly home: string;
  /** `MINI_CC_HOME`: sessions and settings of mini-cc. */
  readonly miniCcHome: string;
  /** Further files and directories (`sandbox.hide`); relative ones and `~/` are relative to the home directory. */
  readonly hide?: readonly string[];
}

export interface HiddenPath {
  /** Links resolved. */
  readonly path: string;
  readonly isDirectory: boolean;
}

/** Those of the places that exist now; on the system's own see `findSystemSecrets`. */
export function hiddenPaths({home, miniCcHome, hide = []}: HiddenPlaces): HiddenPath[] {
  const more = hide.map((path) => resolve(home, path.replace(/^~\//, '')));
  return existingPaths([...getSecretPaths(home, miniCcHome), ...more]);
}

/** There is nothing to hide in an empty file or folder, and each mount costs time. */
export function hasContent({path, isDirectory}: HiddenPath): boolean {
  try {
    return isDirectory ? readdirSync(path).length > 0 : statSync(path).size > 0;
  } catch {
    return true;
  }
}

/** Those of the files and folders that exist now. */
export function existingPaths(paths: readonly string[]): HiddenPath[] {
  return paths.map(existing).filter((found) => found !== undefined);
}

function existing(path: string): HiddenPath | undefined {
  // What this user cannot even stat (EACCES) needs no hiding.
  try {
    const isDirectory = statSync(path, {throwIfNoEntry: false})?.isDirectory();
    return isDirectory === undefined ? undefined : {path: realpathSync(path), isDirectory};
  } catch {
    return undefined;
  }
}
