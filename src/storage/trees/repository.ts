/**
 * The repository of a workspace, which is only read here, and repositories that borrow its objects. These have no path,
 * remote or setting that leads back. `git worktree add` would leave a `.git` file by which every command reaches the
 * main checkout.
 */
import {copyFile, mkdir, readFile, realpath, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {getErrorMessage, ignoreMissing, MiniCcError} from '../../core/util/errors.ts';
import {type GitOptions, git} from './git.ts';

/** Milliseconds: reading a large checkout takes long. */
export const LIMIT_MS = 30 * 60 * 1000;

export interface Repository {
  /** The top of the checkout, links resolved. */
  readonly top: string;
  /** The path from `top` to the workspace; empty when they are the same. */
  readonly prefix: string;
  /** The git directory with objects and refs of all its checkouts. */
  readonly commonDir: string;
  /** The folders of its objects: its own, and those that it borrows from. */
  readonly objects: readonly string[];
  /** `sha1` or `sha256`. */
  readonly objectFormat: string;
  /** The checked-out commit; undefined before the first one. */
  readonly head: string | undefined;
  /** `refs/heads/…`; undefined with a detached HEAD. */
  readonly branch: string | undefined;
}

/** @throws MiniCcError `WORKTREE` when there is no repository with files */
export async function openRepository(root: string, signal: AbortSignal): Promise<Repository> {
  const ask = (...args: string[]) => askGit(root, args, {signal});
  const facts = await ask(
    'rev-parse',
    '--path-format=absolute',
    '--show-object-format',
    '--show-toplevel',
    '--git-common-dir',
    '--git-path',
    'objects',
  );
  const [objectFormat = 'sha1', top = '', commonDir = '', objects = ''] = (facts ?? '').split('\n');
  if (facts === undefined || !path.isAbsolute(top))
    throw new MiniCcError('WORKTREE', await explainMissing(root, signal));
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

async function explainMissing(root: string, signal: AbortSignal): Promise<string> {
  const {stderr} = await git(root, ['rev-parse', '--show-toplevel'], {signal});
  const needs = 'isolation: worktree needs a git repository';
  const why =
    stderr
      .replace(/^fatal: /, '')
      .trim()
      .split('\n')[0] ?? '';
  if (/bare repository|must be run in a work tree/.test(why)) return `${needs} with files: ${root} is a bare one`;
  if (why.startsWith('not a git repository')) return `${needs}: ${root} is not in one (git init creates one)`;
  return `${needs}: ${why}`;
}

/**
 * The output of git without its last line break; undefined when it fails.
 * @throws MiniCcError `WORKTREE` without git
 */
async function askGit(cwd: string, args: readonly string[], options: GitOptions): Promise<string | undefined> {
  try {
    const {exitCode, stdout} = await git(cwd, args, options);
    return exitCode === 0 ? stdout.toString().replace(/\n$/, '') : undefined;
  } catch (error) {
    options.signal?.throwIfAborted();
    throw new MiniCcError('WORKTREE', `isolation: worktree needs git: ${getErrorMessage(error)}`, {cause: error});
  }
}

/** The folder, the folders that its `info/alternates` names, and so on. */
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

/** @throws MiniCcError `WORKTREE` with the command and its error text when git fails */
export async function gitOrThrow(cwd: string, args: readonly string[], options: GitOptions = {}): Promise<Buffer> {
  const {exitCode, stdout, stderr} = await git(cwd, args, {limitMs: LIMIT_MS, ...options});
  if (exitCode === 0) return stdout;
  throw new MiniCcError('WORKTREE', `git ${args[0]} failed: ${stderr.trim() || `exit code ${exitCode}`}`);
}

/** Settings that are copied from the main repository: they are about files and names, and run no programs. */
const COPIED_SETTINGS = [
  'user.name',
  'user.email',
  'core.autocrlf',
  'core.eol',
  'core.excludesfile',
  // What its file system can do.
  'core.filemode',
  'core.ignorecase',
  'core.precomposeunicode',
  'core.symlinks',
];

type Settings = readonly (readonly [key: string, value: string])[];

/** The settings that a borrowing repository gets. */
export async function readCopiedSettings({top}: Repository, signal: AbortSignal): Promise<Settings> {
  const {exitCode, stdout} = await git(top, ['config', '--local', '--type=path', '--list', '-z'], {signal});
  if (exitCode !== 0) return [];
  return stdout
    .toString()
    .split('\0')
    .map((entry) => entry.split(/\n([\s\S]*)/, 2) as [string, string | undefined])
    .flatMap(([key, value]) => (COPIED_SETTINGS.includes(key) && value !== undefined ? [[key, value] as const] : []));
}

/**
 * Creates a repository that borrows the objects of another one. Its few files are written here, in the layout of
 * gitrepository-layout(5): a process of git for each would take most of the time that a worktree takes.
 * @param folder created when it does not exist. @returns its git directory
 */
export async function createBorrowingRepository(
  folder: string,
  from: Pick<Repository, 'objects' | 'objectFormat' | 'commonDir'>,
  {bare, settings}: {readonly bare: boolean; readonly settings: Settings},
): Promise<string> {
  const gitDir = bare ? folder : path.join(folder, '.git');
  for (const name of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags', 'info']) {
    await mkdir(path.join(gitDir, name), {recursive: true, mode: 0o700});
  }
  await writeFile(path.join(gitDir, 'config'), formatSettings(from.objectFormat, bare, settings));
  await writeFile(path.join(gitDir, 'objects', 'info', 'alternates'), `${from.objects[0]}\n`);
  await copyFile(path.join(from.commonDir, 'info', 'exclude'), path.join(gitDir, 'info', 'exclude')).catch(
    ignoreMissing,
  );
  // Last: without it git does not take the folder for a repository.
  await writeFile(path.join(gitDir, 'HEAD'), 'ref: refs/heads/main\n');
  return gitDir;
}

/** The file of settings, see git-config(1). */
function formatSettings(objectFormat: string, bare: boolean, settings: Settings): string {
  const isDefault = objectFormat === 'sha1';
  const own: Settings = [
    ['core.repositoryformatversion', isDefault ? '0' : '1'],
    ...(isDefault ? [] : [['extensions.objectformat', objectFormat] as const]),
    ['core.filemode', 'true'],
    ['core.bare', String(bare)],
    ['core.logallrefupdates', String(!bare)],
  ];
  return [...own, ...settings]
    .map(([key, value]) => {
      const [section = '', name = ''] = key.split('.');
      const quoted = value.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\t', '\\t');
      return `[${section}]\n\t${name} = "${quoted}"\n`;
    })
    .join('');
}

/** Copies branches, tags and HEAD of the main repository. */
export async function copyHistory(gitDir: string, from: Repository, signal: AbortSignal): Promise<void> {
  const format = '--format=%(objectname) %(refname)';
  const refs = await gitOrThrow(from.top, ['for-each-ref', format, 'refs/heads', 'refs/tags', 'refs/remotes'], {
    signal,
  });
  await writeFile(path.join(gitDir, 'packed-refs'), Buffer.concat([Buffer.from('# pack-refs with: sorted \n'), refs]));
  await writeFile(path.join(gitDir, 'HEAD'), from.branch === undefined ? `${from.head}\n` : `ref: ${from.branch}\n`);
  // In a shallow clone, the history ends at the same commits.
  await copyFile(path.join(from.commonDir, 'shallow'), path.join(gitDir, 'shallow')).catch(ignoreMissing);
}
