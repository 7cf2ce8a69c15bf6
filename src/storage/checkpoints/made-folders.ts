/** Folders that come into being with a file: who takes the file away again takes them too, when they are empty. */
import {existsSync, lstatSync} from 'node:fs';
import path from 'node:path';

/** Those above `file` that are not there yet, outermost first. */
export function missingAbove(file: string): string[] {
  const missing: string[] = [];
  for (let folder = path.dirname(file); !existsSync(folder); folder = path.dirname(folder)) missing.unshift(folder);
  return missing;
}

/** Those above `file` and below `root` that came into being at `time` (milliseconds since the epoch) or later. */
export function madeSince(file: string, root: string, time: number): string[] {
  const made: string[] = [];
  for (let folder = path.dirname(file); folder.startsWith(`${root}${path.sep}`); folder = path.dirname(folder)) {
    const about = lstatSync(folder, {throwIfNoEntry: false});
    if (!about || about.birthtimeMs < time) break;
    made.unshift(folder);
  }
  return made;
}
