/**
 * Worktrees of runs: `<session>/worktrees/<run>/tree/<name>/` is what the run sees; beside it, out of its reach, a git
 * directory of mini-cc's own that knows what the tree began with.
 */
import {existsSync} from 'node:fs';
import {copyFile, mkdir} from 'node:fs/promises';
import path from 'node:path';
import type {BroughtBack, Worktree, WorktreeOwner, Worktrees} from '../../core/contract/worktree.ts';
import {MiniCcError, messageOf} from '../../core/util/errors.ts';
import {isInside} from '../../core/util/inside.ts';
import {SessionLock} from '../sessions/session-lock.ts';
import {type BringBackDeps, bringBack} from './bring-back.ts';
import {keepCommits} from './commit-bundle.ts';
import {copyFiles} from './copy-files.ts';
import {recover} from './recovery.ts';
import {gitOrThrow, makeBorrowing, type Repository, repositoryAt, takeOverHistory} from './repository.ts';
import {Snapshots} from './snapshots.ts';
import {placesOf, removeTree, settle, writeStart} from './worktree-folder.ts';

export interface WorktreeRooms {
  /** The session's workspace, links resolved. */
  readonly root: string;
  /** Asked at each call, since /clear begins a new session. */
  readonly sessionFolder: () => string;
  /** Files and folders that held commands must not see, absolute. */
  readonly hidden: () => readonly string[];
  readonly isProtected: BringBackDeps['isProtected'];
  /** For what goes wrong when nobody waits. */
  readonly warn: (text: string) => void;
  /** Does the writing into the workspace for a run, so that it can be undone. */
  readonly writing: (owner: WorktreeOwner, work: () => Promise<void>) => Promise<unknown>;
}

export class GitWorktrees implements Worktrees {
  /** Changes come back one run at a time: the second sees what the first wrote. */
  #queue: Promise<unknown> = Promise.resolve();
  /** By the run whose tree goes. */
  readonly #removals = new Map<string, Promise<void>>();

  constructor(private readonly rooms: WorktreeRooms) {}

  async open(owner: WorktreeOwner, signal: AbortSignal): Promise<Worktree> {
    const {root} = this.rooms;
    const repository = await repositoryAt(root, signal);
    // A checkout within a hidden folder is shown, as in the sandbox.
    const hidden = this.rooms.hidden().filter((place) => !isInside(repository.top, [place]));
    const session = this.rooms.sessionFolder();
    const places = placesOf(session, owner.agentId);
    await this.#removals.get(owner.agentId);
    // Of an earlier round that a crash cut off.
    const leftOver = await recover(session, owner.agentId);
    if (existsSync(places.folder)) {
      throw new MiniCcError('WORKTREE', leftOver ?? `another mini-cc works in ${places.folder}: leave that one first`);
    }
    await mkdir(places.folder, {recursive: true, mode: 0o700});
    const lock = new SessionLock(places.folder, owner.agentId);
    lock.acquire();
    try {
      const top = path.join(places.trees, path.basename(repository.top));
      const {snapshots, start, notes} = await make(repository, top, places.git, hidden, signal);
      const origin = {...repository, start};
      await writeStart(places.folder, {origin, top, label: owner.label});
      const isProtected = (file: string) =>
        this.rooms.isProtected(file) || isInside(path.join(repository.top, file), hidden);
      const deps: BringBackDeps = {
        ...{origin, snapshots, tree: top, keepIn: places.keepIn, scratch: places.folder, isProtected},
        writing: (work) => this.rooms.writing(owner, work),
      };
      return {
        top,
        root: path.join(top, repository.prefix),
        seen: repository.objects,
        notes: leftOver === undefined ? notes : [leftOver, ...notes],
        inWorkspace: (file) => moved(file, top, repository.top),
        bringBack: (written) =>
          this.#oneAtATime(async () => {
            const brought = await bringBack(deps, written);
            const {git: gitDir, keepIn} = places;
            const commits = await keepCommits({tree: top, gitDir, main: repository.top, keepIn});
            await settle(places.folder);
            return {...brought, notes: [...brought.notes, ...commits]};
          }),
        discard: () => this.#remove(places.folder, lock, owner),
        abandon: () => lock.release(),
      };
    } catch (error) {
      this.#remove(places.folder, lock, owner);
      throw error;
    }
  }

  async settled(): Promise<void> {
    await Promise.all(this.#removals.values());
  }

  /** Nobody waits for it: a large tree takes seconds. What is left when mini-cc ends before, the next start removes. */
  #remove(folder: string, lock: SessionLock, {agentId, label}: WorktreeOwner): void {
    const removed = removeTree(folder)
      .catch((error: unknown) => this.rooms.warn(`${label}: its worktree could not be removed: ${messageOf(error)}`))
      .finally(() => {
        lock.release();
        this.#removals.delete(agentId);
      });
    this.#removals.set(agentId, removed);
  }

  #oneAtATime(work: () => Promise<BroughtBack>): Promise<BroughtBack> {
    const done = this.#queue.then(work);
    this.#queue = done.catch(() => undefined);
    return done;
  }
}

async function make(
  repository: Repository,
  top: string,
  gitDir: string,
  hidden: readonly string[],
  signal: AbortSignal,
) {
  const ownGit = await makeBorrowing(top, repository, {bare: false, signal});
  await takeOverHistory(ownGit, repository, signal);
  const {leftOut, notes} = await copyFiles(repository, top, hidden, signal);
  await mkdir(path.join(top, repository.prefix), {recursive: true});
  const snapshots = await Snapshots.make(gitDir, top, repository, signal);
  const start = await snapshots.take(signal);
  if (repository.head !== undefined) {
    await copyFile(snapshots.index, path.join(ownGit, 'index'));
    await gitOrThrow(top, ['read-tree', '--reset', 'HEAD'], {signal});
    await leaveOut(top, leftOut, signal);
  }
  return {snapshots, start, notes};
}

/** Tracked files that are not there on purpose are not deleted ones. */
async function leaveOut(top: string, files: readonly string[], signal: AbortSignal): Promise<void> {
  if (files.length === 0) return;
  const known = new Set((await gitOrThrow(top, ['ls-files', '-z'], {signal})).toString().split('\0'));
  const input = files.filter((file) => known.has(file)).join('\0');
  await gitOrThrow(top, ['update-index', '-z', '--skip-worktree', '--stdin'], {input, signal});
}

function moved(file: string, from: string, to: string): string | undefined {
  if (file === from) return to;
  return file.startsWith(`${from}/`) ? to + file.slice(from.length) : undefined;
}
