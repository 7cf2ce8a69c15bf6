/** The repository that a workspace lies in, as far as a worktree is made from it. Read only, always. */
import {copyFile, mkdir, readFile, realpath, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {MiniCcError, messageOf} from '../../core/util/errors.ts';
import {orAbsent} from '../../core/util/file-errors.ts';
import {type GitOptions, git} from '../git.ts';

/** A large checkout takes long to read through. Milliseconds. */
const LIMIT_MS = 30 * 60 * 1000;

export interface Repository {
  /** Where the checkout begins, links resolved. */
  readonly top: string;
  /** From `top` to the workspace; empty where they are the same. */
  readonly prefix: string;
  /** Where all its checkouts keep objects and refs. */
  readonly commonDir: string;
  /** Folders of objects: its own, and those that it borrows from itself. */
  readonly objects: readonly string[];
  /** `sha1` or `sha256`. */
  readonly objectFormat: string;
  /** The commit that is checked out; undefined before the first. */
  readonly head: string | undefined;
  /** `refs/heads/…`; undefined on no branch. */
  readonly branch: string | undefined;
}

/** @throws MiniCcError `WORKTREE` where there is no repository with files. */
export async function repositoryAt(root: string, signal: AbortSignal): Promise<Repository> {
  const ask = (...args: string[]) => askGit(root, args, {signal});
  const places = await ask(
    ...['rev-parse', '--path-format=absolute', '--show-object-format', '--show-toplevel', '--git-common-dir'],
    ...['--git-path', 'objects'],
  );
  const [objectFormat = 'sha1', top = '', commonDir = '', objects = ''] = (places ?? '').split('\n');
  if (places === undefined || !path.isAbsolute(top)) throw new MiniCcError('WORKTREE', await whyNone(root, signal));
  const [head, branch] = await Promise.all([
    ask('rev-parse', '--verify', '--quiet', 'HEAD^{commit}'),
    ask('symbolic-ref', '--quiet', 'HEAD'),
  ]);
  const realTop = await realpath(top);
  return {
    top: realTop,
    prefix: path.relative(realTop, root),
    commonDir,
    objects: await withBorrowed(await realpath(objects)),
    objectFormat,
    head: head?.trim(),
    branch: branch?.trim(),
  };
}

async function whyNone(root: string, signal: AbortSignal): Promise<string> {
  const {stderr} = await git(root, ['rev-parse', '--show-toplevel'], {signal});
  const needs = 'isolation: worktree needs a git repository';
  const why =
    stderr
      .replace(/^fatal: /, '')
      .trim()
      .split('\n')[0] ?? '';
  if (/bare repository|must be run in a work tree/.test(why)) return `${needs} with files: ${root} is none`;
  if (why.startsWith('not a git repository')) return `${needs}: ${root} lies in none (git init makes one)`;
  return `${needs}: ${why}`;
}

/** What git says, without its last line break; undefined when it fails. @throws MiniCcError `WORKTREE` without git. */
async function askGit(cwd: string, args: readonly string[], options: GitOptions): Promise<string | undefined> {
  try {
    const {exitCode, stdout} = await git(cwd, args, options);
    return exitCode === 0 ? stdout.toString().replace(/\n$/, '') : undefined;
  } catch (error) {
    options.signal?.throwIfAborted();
    throw new MiniCcError('WORKTREE', `isolation: worktree needs git: ${messageOf(error)}`, {cause: error});
  }
}

/** The folder itself, and those that its `info/alternates` name, and theirs. */
async function withBorrowed(objects: string, known: readonly string[] = []): Promise<string[]> {
  if (known.includes(objects)) return [];
  const listed = await readFile(path.join(objects, 'info', 'alternates'), 'utf8').catch(orAbsent);
  const folders = (listed ?? '').split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const found = [objects];
  for (const folder of folders) {
    const real = await realpath(path.resolve(objects, folder)).catch(orAbsent);
    if (real !== undefined) found.push(...(await withBorrowed(real, [...known, ...found])));
  }
  return found;
}

/** @throws MiniCcError `WORKTREE` that names the command, when git fails. */
export async function gitOrThrow(cwd: string, args: readonly string[], options: GitOptions = {}): Promise<Buffer> {
  const {exitCode, stdout, stderr} = await git(cwd, args, {limitMs: LIMIT_MS, ...options});
  if (exitCode === 0) return stdout;
  throw new MiniCcError('WORKTREE', `git ${args[0]} failed: ${stderr.trim() || `exit code ${exitCode}`}`);
}

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
