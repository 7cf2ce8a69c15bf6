/**
 * Worktrees of runs. The run works in `<session>/worktrees/<run>/tree/<name>/`. Beside it, where the run cannot write,
 * is a git directory of mini-cc's own with a snapshot of the tree's start.
 */
import {existsSync} from 'node:fs';
import {copyFile, mkdir} from 'node:fs/promises';
import path from 'node:path';
import type {BroughtBack, Worktree, WorktreeOwner, Worktrees} from '../../core/contract/worktree.ts';
import {getErrorMessage, MiniCcError} from '../../core/util/errors.ts';
import {isInside} from '../../core/util/paths.ts';
import {SessionLock} from '../sessions/session-lock.ts';
import {
  copyHistory,
  createBorrowingRepository,
  gitOrThrow,
  openRepository,
  type Repository,
  readCopiedSettings,
} from '../trees/repository.ts';
import {TreeSnapshots} from '../trees/trees.ts';
import {type BringBackDeps, bringBack, exportChanges} from './bring-back.ts';
import {keepCommits, readRefs} from './commit-bundle.ts';
import {copyFiles, copyFolder, type WriteStored} from './copy-files.ts';
import {recoverWorktree} from './recovery.ts';
import type {CachedTree} from './tree-cache.ts';
import {getWorktreePaths, removeStart, removeTree, writeStart} from './worktree-folder.ts';

export interface WorktreeDeps {
  /** The session's workspace, links resolved. */
  readonly root: string;
  /** Called each time, since /clear starts a new session. */
  readonly sessionFolder: () => string;
  /** Absolute paths of files and folders that confined commands must not see. */
  readonly hidden: () => readonly string[];
  readonly isProtected: BringBackDeps['isProtected'];
  /** Called with errors of work in the background. */
  readonly warn: (text: string) => void;
  /** Wraps the writing into the workspace for a run, so that it can be undone. */
  readonly writing: (owner: WorktreeOwner, files: readonly string[], work: () => Promise<void>) => Promise<unknown>;
  /** The workspace is this one. Changes stay out of it: each run's are a patch in its folder, `EXPORTED_PATCH`. */
  readonly cached?: CachedTree | undefined;
}

export const EXPORTED_PATCH = 'exported.patch';

export class GitWorktrees implements Worktrees {
  /** Changes come back one run after the other: the second sees what the first wrote. */
  #queue: Promise<unknown> = Promise.resolve();
  /** Removals in progress, by run id. */
  readonly #removals = new Map<string, Promise<void>>();

  constructor(private readonly deps: WorktreeDeps) {}

  async open(owner: WorktreeOwner, signal: AbortSignal): Promise<Worktree> {
    const {root, cached} = this.deps;
    const repository = cached?.repository ?? (await openRepository(root, signal));
    // A checkout inside a hidden folder is visible, as in the sandbox.
    const hidden = this.deps.hidden().filter((hiddenPath) => !isInside(repository.top, [hiddenPath]));
    const session = this.deps.sessionFolder();
    const paths = getWorktreePaths(session, owner.agentId);
    await this.#removals.get(owner.agentId);
    // From an earlier round that a crash ended.
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
      const {snapshots, start, notes} = isWhole
        ? await copyTree(cached, top, paths.git)
        : await createTree(repository, top, paths.git, hidden, signal);
      const refs = await readRefs(top);
      const origin = {...repository, start};
      await writeStart(paths.folder, {origin, top, label: owner.label});
      const isProtected = (file: string) =>
        this.deps.isProtected(file) || isInside(path.join(repository.top, file), hidden);
      const bringBackDeps: BringBackDeps = {
        origin,
        snapshots,
        tree: top,
        keepIn: paths.keepIn,
        scratch: paths.folder,
        isProtected,
        writing: (files, work) => this.deps.writing(owner, files, work),
      };
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
              ? await exportChanges(bringBackDeps, written, path.join(keepIn, EXPORTED_PATCH))
              : await bringBack(bringBackDeps, written);
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

  /** In the background, since a large tree takes seconds. What is left when mini-cc ends, the next start removes. */
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

  #queueUp(work: () => Promise<BroughtBack>): Promise<BroughtBack> {
    const done = this.#queue.then(work);
    this.#queue = done.catch(() => undefined);
    return done;
  }
}

async function createTree(
  repository: Repository,
  top: string,
  gitDir: string,
  hidden: readonly string[],
  signal: AbortSignal,
) {
  const settings = await readCopiedSettings(repository, signal);
  const ownGit = await createBorrowingRepository(top, repository, {bare: false, settings});
  await copyHistory(ownGit, repository, signal);
  const snapshots = await TreeSnapshots.create(gitDir, top, repository, settings);
  const writeStored: WriteStored = (entries) => snapshots.writeStored(entries, signal);
  const {leftOut, notes} = await copyFiles(repository, top, hidden, writeStored, signal);
  await mkdir(path.join(top, repository.prefix), {recursive: true});
  const start = await snapshots.take(signal);
  if (repository.head !== undefined) {
    await copyFile(snapshots.index, path.join(ownGit, 'index'));
    await gitOrThrow(top, ['read-tree', '--reset', 'HEAD'], {signal});
    await skipFiles(top, leftOut, signal);
  }
  return {snapshots, start, notes};
}

/** The same where the tree's snapshot is known: files are copied, and git is asked nothing. */
async function copyTree({repository, start, index}: CachedTree, top: string, gitDir: string) {
  await mkdir(top, {recursive: true, mode: 0o700});
  await copyFolder(repository.top, top, [index]);
  const snapshots = await TreeSnapshots.create(gitDir, top, repository, []);
  await copyFile(index, snapshots.index);
  return {snapshots, start, notes: []};
}

/** Marks tracked files that were not copied, so that git does not report them as deleted. */
async function skipFiles(top: string, files: readonly string[], signal: AbortSignal): Promise<void> {
  if (files.length === 0) return;
  const known = new Set((await gitOrThrow(top, ['ls-files', '-z'], {signal})).toString().split('\0'));
  const input = files.filter((file) => known.has(file)).join('\0');
  await gitOrThrow(top, ['update-index', '-z', '--skip-worktree', '--stdin'], {input, signal});
}

function mapPath(file: string, from: string, to: string): string | undefined {
  if (file === from) return to;
  return file.startsWith(`${from}/`) ? to + file.slice(from.length) : undefined;
}
