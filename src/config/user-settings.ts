/** Writes one value into the user's own settings file. All else in it stays, comments too. */
import {mkdir, readFile} from 'node:fs/promises';
import path from 'node:path';
import {ignoreMissing, MiniCcError} from '../core/util/errors.ts';
import {writeWhole} from '../core/util/files/whole-file.ts';
import {setProperty} from '../core/util/json-syntax.ts';
import {formatProblem, ProblemList} from '../core/util/problem.ts';

/**
 * @param home mini-cc's own folder. @returns the file
 * @throws MiniCcError `SETTINGS` when it is no JSON, and the error of the file system when it cannot be written
 */
export async function saveUserSetting(home: string, key: string, value: string): Promise<string> {
  const file = path.join(home, 'settings.json');
  const text = (await readFile(file, 'utf8').catch(ignoreMissing)) ?? '';
  const problems = new ProblemList(file);
  const changed = setProperty(text.trim() === '' ? '{}' : text, key, value, problems);
  const [problem] = problems.all;
  if (changed === undefined) throw new MiniCcError('SETTINGS', `not saved: ${problem ? formatProblem(problem) : file}`);
  await mkdir(home, {recursive: true, mode: 0o700});
  await writeWhole(file, changed.endsWith('\n') ? changed : `${changed}\n`);
  return file;
}
