/**
 * Writes one value into a JSON file, such as the user's own settings. Everything else in it stays, including comments.
 */
import {mkdir, readFile} from 'node:fs/promises';
import path from 'node:path';
import {ignoreMissing, MiniCcError} from '../core/util/errors.ts';
import {writeWhole} from '../core/util/files/whole-file.ts';
import {setProperty} from '../core/util/json-syntax.ts';
import {formatProblem, ProblemList} from '../core/util/problem.ts';

/**
 * Saves one of the user's own settings.
 * @param home mini-cc's own folder
 * @returns the file
 * @throws what `saveProperty` throws
 */
export async function saveUserSetting(home: string, key: string, value: string): Promise<string> {
  const file = path.join(home, 'settings.json');
  await saveProperty(file, [key], value);
  return file;
}

/**
 * Saves a value in a JSON file.
 * @param keys path to the value
 * @param value undefined removes the value
 * @throws MiniCcError `SETTINGS` when the file is not JSON, and the error of the file system when it cannot be written
 */
export async function saveProperty(file: string, keys: readonly string[], value: unknown): Promise<void> {
  const text = (await readFile(file, 'utf8').catch(ignoreMissing)) ?? '';
  const problems = new ProblemList(file);
  const changed = setProperty(text.trim() === '' ? '{}' : text, keys, value, problems);
  const [problem] = problems.all;
  if (changed === undefined) throw new MiniCcError('SETTINGS', `not saved: ${problem ? formatProblem(problem) : file}`);
  await mkdir(path.dirname(file), {recursive: true, mode: 0o700});
  await writeWhole(file, changed.endsWith('\n') ? changed : `${changed}\n`);
}
