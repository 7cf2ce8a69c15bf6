/**
 * Stores workspaces of other machines as checkouts from which runs start. Each has a key, by which the next run with
 * the same files finds it. `<folder>/<repository>/objects.git` has the objects, `<folder>/<repository>/<key>/<name>`
 * the files.
 */
import {existsSync, readdirSync, statSync} from 'node:fs';
import {copyFile, mkdir, mkdtemp, realpath, rename, rm, utimes, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {resolveLinks} from '../../core/permissions/files/resolve-links.ts';
import {createQueue} from '../../core/util/background.ts';
import {getErrorMessage, MiniCcError} from '../../core/util/errors.ts';
import {git, gitOrThrow} from '../trees/git.ts';
import {createGitDirectory, type Repository} from '../trees/repository.ts';
import {Trees} from '../trees/trees.ts';
import type {TreeState} from './shipped-trees.ts';
import {removeTree} from './worktree-folder.ts';

/** Source of the parts of a tree that this machine lacks. */
export interface TreeSource {
  /** Returns a patch for what the base lacks; empty when nothing is missing. */
  readPatch(): Promise<Buffer>;
  /** Returns the base as a bundle. It is called when no remote has the base. */
  readBundle(): Promise<Buffer>;
}

/** A workspace from which runs start. It must not be written. */
export interface CachedTree {
  readonly root: string;
  readonly repository: Repository;
  /** Id of the git tree of all its files, and path of a git index of them. */
  readonly start: string;
  readonly index: string;
}

/** Thrown for a tree that no mini-cc would ask for. */
export class RefusedTree extends MiniCcError {
  constructor(text: string) {
    super('REFUSED_TREE', text);
  }
}

interface TreeLimits {
  readonly files: number;
  /** Bytes of all files together. */
  readonly bytes: number;
}

/** A small pack may have large files: zeros take a thousandth of their size in it. */
const LIMITS: TreeLimits = {files: 300_000, bytes: 8 * 1024 ** 3};
const FETCH_MS = 60_000;
/** Limit of stored trees of one repository. */
const MAX_TREES = 20;
/** Only these protocols may fetch from remotes, because others can run programs. */
const FETCH_ENV = {
  // A path would be one of this machine.
  GIT_ALLOW_PROTOCOL: 'https:ssh:git',
  GIT_SSH_COMMAND: 'ssh -o BatchMode=yes -o ConnectTimeout=10',
};
const OBJECTS = 'objects.git';
/** Name of the index in the checkout's `.git`, beside the one that its commands use. */
const START_INDEX = 'start.index';

export class TreeCache {
  /** Queues by repository, so that only one task at a time writes the objects of a repository. */
  readonly #queues = new Map<string, ReturnType<typeof createQueue>>();

  constructor(
    private readonly folder: string,
    private readonly limits: TreeLimits = LIMITS,
  ) {}

  /**
   * Opens the workspace with its captured files. A tree is made once, however many runs ask for it.
   * @throws MiniCcError when it cannot be made
   */
  open(tree: TreeState, source: TreeSource): Promise<CachedTree> {
    const queueUp = this.#queues.get(tree.repository) ?? createQueue();
    this.#queues.set(tree.repository, queueUp);
    return queueUp(() => this.#openOrMake(tree, source));
  }

  /** Lists the stored trees, newest first: `name@` and the beginning of the key. */
  list(): readonly string[] {
    const found = this.#listRepositories().flatMap((repository) =>
      this.#listTrees(repository).map(({key, name, usedAt}) => ({shown: `${name}@${key.slice(0, 12)}`, usedAt})),
    );
    return found.sort((a, b) => b.usedAt - a.usedAt).map(({shown}) => shown);
  }

  async #openOrMake(tree: TreeState, source: TreeSource): Promise<CachedTree> {
    const {objectFormat, prefix, start} = tree;
    const place = path.join(this.folder, tree.repository, tree.key);
    const top = path.join(place, tree.name);
    const commonDir = path.join(top, '.git');
    const index = path.join(commonDir, START_INDEX);
    // A tree that an older mini-cc made is made again.
    if (existsSync(place) && !existsSync(index)) await removeTree(place);
    if (!existsSync(place)) await this.#make(tree, source, place);
    const now = new Date();
    await utimes(place, now, now);
    const root = path.join(top, prefix);
    // The session that made the tree may have put a link there that leads out of it.
    const inTop = path.join(await realpath(top), prefix);
    if (resolveLinks(inTop, '/') !== inTop) throw new RefusedTree('its folder is a link in its tree');
    await mkdir(root, {recursive: true});
    const objects = [path.join(this.folder, tree.repository, OBJECTS, 'objects')];
    return {root, repository: {top, prefix, commonDir, objects, index, objectFormat}, start, index};
  }

  async #make(tree: TreeState, source: TreeSource, place: string): Promise<void> {
    const repository = path.dirname(place);
    await mkdir(repository, {recursive: true, mode: 0o700});
    const gitDir = path.join(repository, OBJECTS);
    const from = {objects: [], objectFormat: tree.objectFormat, commonDir: gitDir};
    if (!existsSync(path.join(gitDir, 'HEAD'))) createGitDirectory(gitDir, {use: 'trees', from});
    await this.#getBase(gitDir, tree, source);
    const draft = await mkdtemp(path.join(repository, 'draft-'));
    try {
      const top = path.join(draft, tree.name);
      await createCheckout(top, gitDir, tree, {patch: await source.readPatch(), limits: this.limits});
      await removeOld(this.#listTrees(repository), repository);
      // Another worker with the same folder may have made the tree meanwhile.
      await rename(draft, place).catch((error: unknown) => {
        if (!existsSync(place)) throw error;
      });
    } finally {
      if (existsSync(draft)) await removeTree(draft);
    }
  }

  async #getBase(gitDir: string, {base, remotes}: TreeState, source: TreeSource): Promise<void> {
    if (base === undefined || (await hasCommit(gitDir, base))) return;
    for (const remote of remotes) if (await fetchFrom(gitDir, remote, base)) return keepBase(gitDir, base);
    const bundle = path.join(gitDir, `${base}.bundle`);
    await writeFile(bundle, await source.readBundle());
    try {
      const refs = `refs/bases/*:refs/bases/*`;
      const env = {GIT_ALLOW_PROTOCOL: 'file'};
      const options = {env: {...env, GIT_DIR: gitDir}, isForeign: true};
      await gitOrThrow(gitDir, ['fetch', '--quiet', '--no-tags', bundle, refs], options);
    } finally {
      await rm(bundle, {force: true});
    }
    if (!(await hasCommit(gitDir, base))) throw new MiniCcError('WORKTREE', `the bundle does not have commit ${base}`);
  }

  #listRepositories(): string[] {
    return existsSync(this.folder) ? readdirSync(this.folder).map((name) => path.join(this.folder, name)) : [];
  }

  #listTrees(repository: string) {
    return readdirSync(repository)
      .filter((name) => /^[0-9a-f]{64}$/.test(name))
      .flatMap((key) => {
        const stat = statSync(path.join(repository, key), {throwIfNoEntry: false});
        const [name = ''] = stat ? readdirSync(path.join(repository, key)) : [];
        return stat ? [{key, name, usedAt: stat.mtimeMs}] : [];
      });
  }
}

async function hasCommit(gitDir: string, id: string): Promise<boolean> {
  return (await git(gitDir, ['cat-file', '-e', `${id}^{commit}`], {env: {GIT_DIR: gitDir}})).exitCode === 0;
}

/** @returns false when the remote cannot be reached, or does not have the commit */
async function fetchFrom(gitDir: string, remote: string, base: string): Promise<boolean> {
  // A remote that begins with a hyphen would be an option.
  if (remote.startsWith('-')) return false;
  const args = ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--', remote, base];
  try {
    const {exitCode} = await git(gitDir, args, {env: {...FETCH_ENV, GIT_DIR: gitDir}, limitMs: FETCH_MS});
    return exitCode === 0 && (await hasCommit(gitDir, base));
  } catch {
    // The fetch took too long, so the base comes as a bundle.
    return false;
  }
}

async function keepBase(gitDir: string, base: string): Promise<void> {
  await gitOrThrow(gitDir, ['update-ref', `refs/bases/${base}`, base], {env: {GIT_DIR: gitDir}});
}

/** @throws MiniCcError when the files do not match the id of the tree */
async function createCheckout(
  top: string,
  objects: string,
  {base, branch, start, objectFormat}: TreeState,
  {patch, limits}: {readonly patch: Buffer; readonly limits: TreeLimits},
): Promise<void> {
  const gitDir = path.join(top, '.git');
  const from = {objects: [path.join(objects, 'objects')], objectFormat, commonDir: objects};
  createGitDirectory(gitDir, {use: 'checkout', from});
  const index = path.join(gitDir, START_INDEX);
  const trees = new Trees(objects, {top, index});
  const made = await trees.patched(base, patch);
  if (made !== start) throw new MiniCcError('WORKTREE', `the tree that came is ${made}, and ${start} was meant`);
  const {files, bytes} = await trees.measure(start);
  if (files > limits.files || bytes > limits.bytes) {
    const most = `${limits.files} files of ${Math.round(limits.bytes / 1024 ** 2)} MB together`;
    throw new RefusedTree(
      `its tree has ${files} files of ${Math.round(bytes / 1024 ** 2)} MB, and at most ${most} are laid out`,
    );
  }
  await trees.checkOut({tree: start});
  if (base !== undefined && branch !== undefined)
    await writeFile(path.join(gitDir, 'packed-refs'), `${base} ${branch}\n`);
  const head = branch === undefined && base !== undefined ? base : `ref: ${branch ?? 'refs/heads/main'}`;
  await writeFile(path.join(gitDir, 'HEAD'), `${head}\n`);
  if (base === undefined) return;
  await copyFile(index, path.join(gitDir, 'index'));
  await gitOrThrow(top, ['read-tree', '--reset', 'HEAD']);
}

async function removeOld(trees: readonly {readonly key: string; readonly usedAt: number}[], repository: string) {
  const old = trees.toSorted((a, b) => b.usedAt - a.usedAt).slice(MAX_TREES - 1);
  for (const {key} of old) {
    try {
      await removeTree(path.join(repository, key));
    } catch (error) {
      throw new MiniCcError('WORKTREE', `an old tree could not be removed: ${getErrorMessage(error)}`);
    }
  }
}
