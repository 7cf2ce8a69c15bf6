/** Files and folders with keys, which a confined command must not see. */
import {realpathSync, statSync} from 'node:fs';
import {resolve} from 'node:path';
import {getSecretPaths} from '../core/secrets/secret-paths.ts';
import {findSystemSecrets} from './view/system-folders.ts';

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

/** Those of the places that exist now. Called for each command, because a key may be created while mini-cc runs. */
export function hiddenPaths({home, miniCcHome, hide = []}: HiddenPlaces): HiddenPath[] {
  const more = hide.map((path) => resolve(home, path.replace(/^~\//, '')));
  const system = process.getuid?.() === 0 ? findSystemSecrets() : [];
  return existingPaths([...getSecretPaths(home, miniCcHome), ...system, ...more]);
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
