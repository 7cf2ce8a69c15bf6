/**
 * Creates the worktrees of runs, and recovers those that a crash left. A run works in
 * `<session>/worktrees/<run>/tree/<name>/`. Beside it, where the run cannot write, is a git directory of mini-cc's own
 * with a snapshot of the tree's start.
 */
import {constants, type Dirent, existsSync, readdirSync} from 'node:fs';
import {chmod, copyFile, lstat, mkdir, readdir, readlink, rm, symlink} from 'node:fs/promises';
import path from 'node:path';
import type {Worktree, WorktreeOwner, Worktrees} from '../../core/contract/worktree.ts';
import {createQueue} from '../../core/util/background.ts';
import {getErrorMessage, ignoreMissing, MiniCcError} from '../../core/util/errors.ts';
import {isInside} from '../../core/util/paths.ts';
import {isLocked, SessionLock} from '../sessions/session-lock.ts';
import {gitOrThrow, type KnownSettings, splitNames} from '../trees/git.ts';
import {isReal, type LeftOutFile} from '../trees/listed-files.ts';
import {
  copyHistory,
  createGitDirectory,
  openRepository,
  type Repository,
  readCopiedSettings,
  readHead,
} from '../trees/repository.ts';
import {ABSENT} from '../trees/tree-diff.ts';
import {Trees} from '../trees/trees.ts';
import {bringBack, exportChanges, keepAll, listHidden, type WorkspaceDeps} from './bring-back.ts';
import {keepCommits, readRefs} from './commit-bundle.ts';
import type {CachedTree} from './tree-cache.ts';
import {
  getWorktreePaths,
  getWorktreesFolder,
  readStart,
  removeStart,
  removeTree,
  writeStart,
} from './worktree-folder.ts';

export interface WorktreeDeps extends WorkspaceDeps {
  /** Called each time, since /clear starts a new session. */
  readonly sessionFolder: () => string;
  /** Called with errors of work in the background. */
  readonly warn: (text: string) => void;
  /**
   * Replaces the workspace. Changes are not written into it; each run's changes become a patch in its folder,
   * `EXPORTED_PATCH`.
   */
  readonly cached?: CachedTree | undefined;
}

export const EXPORTED_PATCH = 'exported.patch';
/** Number of files that are copied at the same time. */
const AT_ONCE = 64;
const MAX_NAMED = 5;

export class GitWorktrees implements Worktrees {
  /** Brings changes back one run after the other, so that each sees what the previous one wrote. */
  readonly #queueUp = createQueue();
  /** Removals in progress, by run id. */
  readonly #removals = new Map<string, Promise<void>>();

  constructor(private readonly deps: WorktreeDeps) {}

  async open(owner: WorktreeOwner, signal: AbortSignal): Promise<Worktree> {
    const {root, cached} = this.deps;
    const known: KnownSettings = {};
    const repository = cached?.repository ?? (await openRepository(root, {signal, known}));
    const hidden = listHidden(this.deps, repository.top);
    const session = this.deps.sessionFolder();
    const paths = getWorktreePaths(session, owner.agentId);
    await this.#removals.get(owner.agentId);
    // A crash may have ended an earlier round of the run.
    const recovered = await recoverWorktree(session, owner.agentId);
    if (existsSync(paths.folder)) {
      throw new MiniCcError('WORKTREE', recovered ?? `another mini-cc works in ${paths.folder}: leave that one first`);
    }
    await mkdir(paths.folder, {recursive: true, mode: 0o700});
    const lock = new SessionLock(paths.folder, owner.agentId);
    lock.acquire();
    try {
      const top = path.join(paths.trees, path.basename(repository.top));
      const isWhole = cached && !hidden.some((place) => isInside(place, [repository.top]));
      const {trees, start, notes} = isWhole
        ? await copyTree(cached, top, paths.git)
        : await createTree(repository, top, paths.git, hidden, {signal, known});
      const refs = await readRefs(top);
      const origin = {...repository, start};
      await writeStart(paths.folder, {origin, top, label: owner.label});
      const deps = {workspace: this.deps, owner, origin, trees, keepIn: paths.keepIn};
      return {
        top,
        root: path.join(top, repository.prefix),
        gitObjects: repository.objects,
        notes: recovered === undefined ? notes : [recovered, ...notes],
        inWorkspace: (file) => mapPath(file, top, repository.top),
        bringBack: (written) =>
          this.#queueUp(async () => {
            const {git: gitDir, keepIn} = paths;
            const brought = cached
              ? await exportChanges(deps, top, written, path.join(keepIn, EXPORTED_PATCH))
              : await bringBack(deps, top, written);
            const commits = await keepCommits({tree: top, gitDir, main: repository.top, keepIn, refs});
            await removeStart(paths.folder);
            return {...brought, notes: [...brought.notes, ...commits]};
          }),
        discard: () => this.#remove(paths.folder, lock, owner),
        abandon: () => lock.release(),
      };
    } catch (error) {
      this.#remove(paths.folder, lock, owner);
      throw error;
    }
  }

  async settled(): Promise<void> {
    await Promise.all(this.#removals.values());
  }

  /**
   * Removes the worktree in the background, because a large tree takes seconds. When mini-cc ends first, the next start
   * removes the rest.
   */
  #remove(folder: string, lock: SessionLock, {agentId, label}: WorktreeOwner): void {
    const removed = removeTree(folder)
      .catch((error: unknown) =>
        this.deps.warn(`${label}: its worktree could not be removed: ${getErrorMessage(error)}`),
      )
      .finally(() => {
        lock.release();
        this.#removals.delete(agentId);
      });
    this.#removals.set(agentId, removed);
  }
}

/** Captures the workspace, and checks its tree out beside it. @param hidden absolute paths that the tree lacks */
export async function createTree(
  repository: Repository,
  top: string,
  gitDir: string,
  hidden: readonly string[],
  options: {readonly signal: AbortSignal; readonly known: KnownSettings},
) {
  const {signal, known} = options;
  const [settings, head] = await Promise.all([readCopiedSettings(repository, options), readHead(repository, options)]);
  const place = {top: repository.top};
  const beginning = {from: repository, settings, without: hidden, known};
  const workspace = await Trees.create(gitDir, place, beginning, signal);
  let captured = await workspace.capture({without: hidden, signal});
  await mkdir(path.join(top, repository.prefix), {recursive: true, mode: 0o700});
  const trees = workspace.elsewhere(top);
  await trees.checkOut({signal}).catch(async () => {
    signal.throwIfAborted();
    // A content may be missing in the repository, so read the files themselves.
    await rm(trees.index);
    captured = await new Trees(gitDir, place).capture({without: hidden, signal});
    await trees.checkOut({signal});
  });
  const {tree: start, leftOut, touched} = captured;
  // Restore all permissions of files that git does not know.
  for (const [name, mode] of touched) {
    const file = path.join(top, name);
    if (mode !== undefined && (await lstat(file).catch(ignoreMissing))?.isFile()) await chmod(file, mode);
  }
  const ownGit = path.join(top, '.git');
  createGitDirectory(ownGit, {use: 'checkout', from: repository, settings});
  await copyHistory(ownGit, repository, head, options);
  const missing = head.head === undefined ? [] : await setIndex(trees, top, {head: head.head, start, signal});
  await skipLeftOut(missing, repository, top, signal);
  const left = leftOut.filter(({name}) => !missing.includes(name.replace(/\/$/, '')));
  return {trees, start, notes: formatNotes(left)};
}

/** Checks a commit out, with a git directory whose HEAD is that commit. @param commit its whole id */
export async function checkOutCommit(
  repository: Repository,
  commit: string,
  top: string,
  gitDir: string,
  signal: AbortSignal,
): Promise<void> {
  const options = {signal};
  const settings = await readCopiedSettings(repository, options);
  await mkdir(path.join(top, repository.prefix), {recursive: true, mode: 0o700});
  createGitDirectory(gitDir, {use: 'trees', from: repository, settings});
  await new Trees(gitDir, {top}).checkOut({tree: commit, signal});
  const ownGit = path.join(top, '.git');
  createGitDirectory(ownGit, {use: 'checkout', from: repository, settings});
  await copyHistory(ownGit, repository, {head: commit, branch: undefined}, options);
  await copyFile(path.join(gitDir, 'index'), path.join(ownGit, 'index'));
}

/** Gives the worktree's git its index. @returns the files of the commit that are missing */
async function setIndex(
  trees: Trees,
  top: string,
  {head, start, signal}: {readonly head: string; readonly start: string; readonly signal: AbortSignal},
): Promise<readonly string[]> {
  await copyFile(trees.index, path.join(top, '.git', 'index'));
  const changed = await trees.diff(head, start);
  if (changed.length > 0) await gitOrThrow(top, ['read-tree', '--reset', 'HEAD'], {signal});
  return changed.filter(({newMode}) => newMode === ABSENT).map((change) => change.path);
}

/** Keeps git from reporting left-out files as deleted: files are marked, and submodules become empty folders. */
async function skipLeftOut(
  missing: readonly string[],
  repository: Repository,
  top: string,
  signal: AbortSignal,
): Promise<void> {
  if (missing.length === 0) return;
  const {stdout} = await gitOrThrow(repository.top, ['ls-files', '-z', '-t'], {signal});
  // A sparse checkout leaves out the files with the tag S.
  const sparse = new Set(
    splitNames(stdout).flatMap((line) => (`${line}`.startsWith('S ') ? [`${line}`.slice(2)] : [])),
  );
  const marked: string[] = [];
  for (const name of missing) {
    const file = path.join(repository.top, name);
    const stat = isReal(path.dirname(file)) ? await lstat(file).catch(ignoreMissing) : undefined;
    if (stat?.isDirectory()) await mkdir(path.join(top, name), {recursive: true});
    else if (stat || sparse.has(name)) marked.push(name);
  }
  if (marked.length === 0) return;
  const input = marked.join('\0');
  await gitOrThrow(top, ['update-index', '-z', '--skip-worktree', '--stdin'], {input, signal});
}

function formatNotes(leftOut: readonly LeftOutFile[]): string[] {
  return [...Map.groupBy(leftOut, ({why}) => why)].map(([why, files]) => {
    const more = files.length > MAX_NAMED ? `, and ${files.length - MAX_NAMED} more` : '';
    const names = files.slice(0, MAX_NAMED).map(({name}) => name);
    return `not in the worktree, since ${why}: ${names.join(', ')}${more}`;
  });
}

/** Creates the worktree from a known tree. Files are copied, and git is not called. */
async function copyTree({repository, start, index}: CachedTree, top: string, gitDir: string) {
  await mkdir(top, {recursive: true, mode: 0o700});
  await copyFolder(repository.top, top, [index]);
  createGitDirectory(gitDir, {use: 'trees', from: repository});
  const trees = new Trees(gitDir, {top});
  await copyFile(index, trees.index);
  return {trees, start, notes: []};
}

/** @param without absolute paths of files. @throws Error when a file cannot be read */
async function copyFolder(from: string, to: string, without: readonly string[]): Promise<void> {
  const entries = await readdir(from, {withFileTypes: true});
  const copy = async (entry: Dirent) => {
    const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)];
    if (entry.isDirectory()) {
      await mkdir(target, {recursive: true});
      await copyFolder(source, target, without);
    } else if (entry.isSymbolicLink()) await symlink(await readlink(source), target);
    else if (entry.isFile() && !without.includes(source)) await copyFile(source, target, constants.COPYFILE_FICLONE);
  };
  for (let at = 0; at < entries.length; at += AT_ONCE) await Promise.all(entries.slice(at, at + AT_ONCE).map(copy));
}

/** Returns the same place in another folder; undefined for a file outside. */
export function mapPath(file: string, from: string, to: string): string | undefined {
  if (file === from) return to;
  return file.startsWith(`${from}/`) ? to + file.slice(from.length) : undefined;
}

const WHY = 'mini-cc ended before the run did';

/** Returns the ids of all runs of a session that have a worktree. */
export function listRunsWithWorktree(sessionFolder: string): string[] {
  const folder = getWorktreesFolder(sessionFolder);
  return existsSync(folder) ? readdirSync(folder) : [];
}

/**
 * Stores the changes of a run's worktree, and removes it, unless a live mini-cc works in it. Never rejects.
 * @returns lines for the user; undefined when there was nothing to store
 */
export async function recoverWorktree(sessionFolder: string, runId: string): Promise<string | undefined> {
  const {folder, git, keepIn} = getWorktreePaths(sessionFolder, runId);
  if (!existsSync(folder) || isLocked(folder)) return undefined;
  const lock = new SessionLock(folder, runId);
  let label = runId;
  try {
    lock.acquire();
    const start = readStart(folder);
    if (start) label = start.label;
    const trees = start && new Trees(git, {top: start.top});
    const kept = trees && (await keepAll({origin: start.origin, trees, keepIn}, start.top, WHY));
    const commits = start ? await keepCommits({tree: start.top, gitDir: git, main: start.origin.top, keepIn}) : [];
    await removeTree(folder);
    const lines = [...(kept ?? []), ...commits];
    return lines.length === 0 ? undefined : `${label}: ${WHY}. ${lines.join('\n')}`;
  } catch (error) {
    return `${label}: the changes in its worktree could not be kept (${getErrorMessage(error)}). They are still in ${folder}`;
  } finally {
    lock.release();
  }
}
