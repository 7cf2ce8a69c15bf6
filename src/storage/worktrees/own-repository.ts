/**
 * Repositories that borrow the objects of another one and know nothing else of it: no path, remote or setting in them
 * leads back. `git worktree add` would leave a `.git` file from which any command reaches the main checkout's own.
 */
import {copyFile, mkdir, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {orAbsent} from '../../core/file-errors.ts';
import {git} from '../git.ts';
import {gitOrThrow, type Repository} from './repository.ts';

/** Settings of the main repository that are about files and names, and run nothing. */
const TAKEN_OVER = ['user.name', 'user.email', 'core.autocrlf', 'core.eol', 'core.excludesfile'];

/** @param folder made if it is not there. @returns where git keeps its things. */
export async function makeBorrowing(
  folder: string,
  from: Repository,
  {bare, signal}: {readonly bare: boolean; readonly signal: AbortSignal},
): Promise<string> {
  await mkdir(folder, {recursive: true, mode: 0o700});
  const kind = bare ? ['--bare'] : [];
  await gitOrThrow(folder, ['init', '--quiet', '--template=', `--object-format=${from.objectFormat}`, ...kind], {
    signal,
  });
  const gitDir = bare ? folder : path.join(folder, '.git');
  await mkdir(path.join(gitDir, 'objects', 'info'), {recursive: true});
  await mkdir(path.join(gitDir, 'info'), {recursive: true});
  await writeFile(path.join(gitDir, 'objects', 'info', 'alternates'), `${from.objects[0]}\n`);
  await copyFile(path.join(from.commonDir, 'info', 'exclude'), path.join(gitDir, 'info', 'exclude')).catch(orAbsent);
  for (const [key, value] of await settingsOf(from, signal)) {
    await gitOrThrow(folder, ['config', '--file', path.join(gitDir, 'config'), key, value], {signal});
  }
  return gitDir;
}

/** The history of the main repository as it is now: its branches and tags, and what is checked out. */
export async function takeOverHistory(gitDir: string, from: Repository, signal: AbortSignal): Promise<void> {
  const format = '--format=%(objectname) %(refname)';
  const refs = await gitOrThrow(from.top, ['for-each-ref', format, 'refs/heads', 'refs/tags', 'refs/remotes'], {
    signal,
  });
  await writeFile(path.join(gitDir, 'packed-refs'), Buffer.concat([Buffer.from('# pack-refs with: sorted \n'), refs]));
  await writeFile(path.join(gitDir, 'HEAD'), from.branch === undefined ? `${from.head}\n` : `ref: ${from.branch}\n`);
  // Where its own history was cut off, this one ends too.
  await copyFile(path.join(from.commonDir, 'shallow'), path.join(gitDir, 'shallow')).catch(orAbsent);
}

async function settingsOf(from: Repository, signal: AbortSignal): Promise<readonly (readonly [string, string])[]> {
  const {exitCode, stdout} = await git(from.top, ['config', '--local', '--type=path', '--list', '-z'], {signal});
  if (exitCode !== 0) return [];
  return stdout
    .toString()
    .split('\0')
    .map((entry) => entry.split(/\n([\s\S]*)/, 2) as [string, string | undefined])
    .flatMap(([key, value]) => (TAKEN_OVER.includes(key) && value !== undefined ? [[key, value] as const] : []));
}
