/** Files that are kept for a person beside a run's transcript, and how they are named in commands. */
import {lstat} from 'node:fs/promises';
import path from 'node:path';
import {orAbsent} from '../../core/file-errors.ts';

/** `changes.patch`, then `changes-2.patch`: a run that goes on may keep another one. */
export async function freeName(folder: string, name: string, ending: string): Promise<string> {
  for (let count = 1; ; count += 1) {
    const file = path.join(folder, count === 1 ? `${name}.${ending}` : `${name}-${count}.${ending}`);
    if ((await lstat(file).catch(orAbsent)) === undefined) return file;
  }
}

/** As a shell takes it for one word. */
export function shellWord(text: string): string {
  return /^[\w./@%+:,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
