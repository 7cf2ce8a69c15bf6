/**
 * Reads the repository of a workspace without changing it, and creates git directories that borrow its objects. These
 * have no path, remote or setting that leads back. `git worktree add` would leave a `.git` file by which every command
 * reaches the main checkout.
 */
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {copyFile, readFile, realpath, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {getErrorMessage, ignoreMissing, MiniCcError, tryOr} from '../../core/util/errors.ts';
import {formatSetting} from '../../core/util/files/git-folder.ts';
import {type GitOptions, git, gitOrThrow, gitWithSettings} from './git.ts';

export interface Repository {
  /** Top folder of the checkout, with links resolved. */
  readonly top: string;
  /** Path from `top` to the workspace; empty when they are the same. */
  readonly prefix: string;
  /** Git directory with objects and refs of all its checkouts. */
  readonly commonDir: string;
  /** Folders of its objects: its own, and those that it borrows from. */
  readonly objects: readonly string[];
  /** File of this checkout's index. */
  readonly index: string;
  /** `sha1` or `sha256`. */
  readonly objectFormat: string;
}

/** The commit and branch that are checked out. */
interface Head {
  /** Id of the commit; undefined before the first one. */
  readonly head: string | undefined;
  /** `refs/heads/…`; undefined with a detached HEAD. */
  readonly branch: string | undefined;
}

/** @returns undefined when there is no repository with files. @throws MiniCcError `GIT_FAILED` without git */
export async function findRepository(root: string, options: GitOptions = {}): Promise<Repository | undefined> {
  const asked = '--show-object-format --show-toplevel --git-common-dir --git-path objects --git-path index';
  const {exitCode, stdout} = await gitWithSettings(root, ['rev-parse', ...asked.split(' ')], {
    ...options,
    known: options.known ?? {},
  });
  const lines = stdout.toString().replace(/\n$/, '').split('\n');
  // A path with a line break gives more lines.
  if (exitCode !== 0 || lines.length !== 5) return undefined;
  const [objectFormat = '', top = '', commonDir = '', objects = '', index = ''] = lines;
  const realTop = await realpath(top);
  return {
    top: realTop,
    prefix: path.relative(realTop, root),
    commonDir: path.resolve(root, commonDir),
    objects: await withBorrowed(await realpath(path.resolve(root, objects))),
    index: path.resolve(root, index),
    objectFormat,
  };
}

/** @throws MiniCcError `WORKTREE` that says why there is no repository with files */
export async function openRepository(root: string, options: GitOptions): Promise<Repository> {
  const needs = 'isolation: worktree needs';
  try {
    const found = await findRepository(root, options);
    if (found) return found;
  } catch (error) {
    options.signal?.throwIfAborted();
    throw new MiniCcError('WORKTREE', `${needs} git: ${getErrorMessage(error)}`, {cause: error});
  }
  const {stderr} = await git(root, ['rev-parse', '--show-toplevel'], options);
  const [why = ''] = stderr
    .replace(/^fatal: /, '')
    .trim()
    .split('\n');
  if (/bare repository|must be run in a work tree/.test(why))
    throw new MiniCcError('WORKTREE', `${needs} a git repository with files: ${root} is a bare one`);
  const isNone = why.startsWith('not a git repository');
  const text = isNone ? `${root} is not in one (git init creates one)` : why;
  throw new MiniCcError('WORKTREE', `${needs} a git repository: ${text}`);
}

export async function readHead(repository: Repository, options: GitOptions = {}): Promise<Head> {
  const [head, {exitCode, stdout}] = await Promise.all([
    resolveCommit(repository, 'HEAD', options),
    git(repository.top, ['symbolic-ref', '--quiet', 'HEAD'], options),
  ]);
  return {head, branch: exitCode === 0 ? `${stdout}`.trim() : undefined};
}

/** @returns the commit that a ref names, in 40 digits; undefined when it names none */
export async function resolveCommit(
  {top}: Repository,
  ref: string,
  options: GitOptions = {},
): Promise<string | undefined> {
  const asked = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`];
  const {exitCode, stdout} = await git(top, asked, options);
  return exitCode === 0 ? `${stdout}`.trim() : undefined;
}

/** Returns the folder, the folders that its `info/alternates` names, and those that they name in turn. */
async function withBorrowed(objects: string, known: readonly string[] = []): Promise<string[]> {
  if (known.includes(objects)) return [];
  const listed = await readFile(path.join(objects, 'info', 'alternates'), 'utf8').catch(ignoreMissing);
  const folders = (listed ?? '').split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const found = [objects];
  for (const folder of folders) {
    const real = await realpath(path.resolve(objects, folder)).catch(ignoreMissing);
    if (real !== undefined) found.push(...(await withBorrowed(real, [...known, ...found])));
  }
  return found;
}

/** Settings that are copied from the main repository. They are about files and names, and run no programs. */
const COPIED_SETTINGS = [
  'user.name',
  'user.email',
  'core.autocrlf',
  'core.eol',
  'core.excludesfile',
  // Abilities of the file system.
  'core.filemode',
  'core.ignorecase',
  'core.precomposeunicode',
  'core.symlinks',
];

export type Settings = readonly (readonly [key: string, value: string])[];

/** Reads the settings that a borrowing repository gets. */
export async function readCopiedSettings({top}: Repository, options: GitOptions): Promise<Settings> {
  const {exitCode, stdout} = await git(top, ['config', '--local', '--type=path', '--list', '-z'], options);
  if (exitCode !== 0) return [];
  return stdout
    .toString()
    .split('\0')
    .map((entry) => entry.split(/\n([\s\S]*)/, 2) as [string, string | undefined])
    .flatMap(([key, value]) => (COPIED_SETTINGS.includes(key) && value !== undefined ? [[key, value] as const] : []));
}

/** Attributes that turn off all conversions, because trees have the bytes of files. */
const NO_CONVERSION = '* -text !eol -crlf -ident -filter !working-tree-encoding !diff\n';

/** Settings of mini-cc's own git directories, which no other program uses. */
const OWN_SETTINGS: Settings = [
  ['core.sharedrepository', '0600'],
  ['core.loosecompression', '0'],
  ['core.ignorecase', 'false'],
];

interface GitDirectoryOptions {
  /**
   * `trees`: a directory of mini-cc's own, without files, whose trees have the bytes of files. `checkout`: the `.git`
   * of a checkout.
   */
  readonly use: 'trees' | 'checkout';
  /** Repository whose objects are borrowed, and whose exclude file is copied. */
  readonly from?: Pick<Repository, 'objects' | 'objectFormat' | 'commonDir'> | undefined;
  readonly settings?: Settings | undefined;
  /** Further patterns of files to ignore. */
  readonly excludes?: readonly string[] | undefined;
}

/**
 * Creates a git directory, or writes its few files again. They are written here, in the layout of
 * gitrepository-layout(5), because a process of git for each would take most of the time that a worktree takes. They are
 * written at once: the first command waits for them, and between two of them other work would take its turn.
 */
export function createGitDirectory(
  gitDir: string,
  {use, from, settings = [], excludes = []}: GitDirectoryOptions,
): void {
  for (const name of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags', 'info']) {
    mkdirSync(path.join(gitDir, name), {recursive: true, mode: 0o700});
  }
  const write = (name: string, text: string) => writeFileSync(path.join(gitDir, name), text, {mode: 0o600});
  const exclude = from ? tryOr(() => readFileSync(path.join(from.commonDir, 'info', 'exclude'), 'utf8'), '') : '';
  write('info/exclude', [exclude, ...excludes, ''].join('\n'));
  if (use === 'trees') write('info/attributes', NO_CONVERSION);
  if (from?.objects[0] !== undefined) write('objects/info/alternates', `${from.objects[0]}\n`);
  write('config', formatSettings(from?.objectFormat ?? 'sha1', use, settings));
  // Write HEAD last, because without it git does not recognize the folder as a repository.
  write('HEAD', 'ref: refs/heads/main\n');
}

/** Formats the file of settings. */
function formatSettings(objectFormat: string, use: GitDirectoryOptions['use'], settings: Settings): string {
  const isDefault = objectFormat === 'sha1';
  const own: [string, string][] = [
    ['core.repositoryformatversion', isDefault ? '0' : '1'],
    ['core.filemode', 'true'],
    ['core.bare', String(use === 'trees')],
    ['core.logallrefupdates', String(use === 'checkout')],
  ];
  if (!isDefault) own.push(['extensions.objectformat', objectFormat]);
  const all = [...own, ...(use === 'trees' ? OWN_SETTINGS : []), ...settings];
  return all.map(([key, value]) => formatSetting({key, value})).join('');
}

/** Gives a git directory the branches, tags and HEAD of the repository. */
export async function copyHistory(
  gitDir: string,
  from: Repository,
  {head, branch}: Head,
  options: GitOptions,
): Promise<void> {
  const format = '--format=%(objectname) %(refname)';
  const {stdout: refs} = await gitOrThrow(
    from.top,
    ['for-each-ref', format, 'refs/heads', 'refs/tags', 'refs/remotes'],
    options,
  );
  await writeFile(path.join(gitDir, 'packed-refs'), Buffer.concat([Buffer.from('# pack-refs with: sorted \n'), refs]));
  await writeFile(path.join(gitDir, 'HEAD'), branch === undefined ? `${head}\n` : `ref: ${branch}\n`);
  // In a shallow clone, the history ends at the same commits.
  await copyFile(path.join(from.commonDir, 'shallow'), path.join(gitDir, 'shallow')).catch(ignoreMissing);
}
