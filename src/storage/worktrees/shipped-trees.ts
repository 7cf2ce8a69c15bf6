/**
 * The workspace as other machines get it: a base commit, and a patch for what it does not have. What a run changed there
 * comes back as a patch too, and is brought into the workspace as from a worktree of this machine.
 */
import {createHash} from 'node:crypto';
import {existsSync} from 'node:fs';
import {mkdir, mkdtemp, readFile, rename, rm, writeFile} from 'node:fs/promises';
import path from 'node:path';
import type {BroughtBack, WorktreeOwner} from '../../core/contract/worktree.ts';
import {getErrorMessage} from '../../core/util/errors.ts';
import {isInside} from '../../core/util/paths.ts';
import {git, type KnownSettings} from '../trees/git.ts';
import {gitOrThrow, openRepository, type Repository, readCopiedSettings} from '../trees/repository.ts';
import {TreeSnapshots} from '../trees/trees.ts';
import {type BringBackDeps, deliver} from './bring-back.ts';
import {findUnusedPath, quoteForShell} from './worktree-folder.ts';

export interface ShippedTreesDeps {
  /** The session's workspace, links resolved. */
  readonly root: string;
  /** Folders of the session, called each time: `trees` is only for this, `run` is a run's own. */
  readonly folders: {trees(): string; run(runId: string): string};
  readonly hidden: () => readonly string[];
  readonly isProtected: BringBackDeps['isProtected'];
  readonly writing: (owner: WorktreeOwner, files: readonly string[], work: () => Promise<void>) => Promise<unknown>;
}

/** The workspace at one moment. */
export interface TreeState {
  /** The same for the same files, base, branch and folder. */
  readonly key: string;
  readonly repository: string;
  readonly name: string;
  /** The git tree of all its files, by their bytes. */
  readonly start: string;
  readonly base?: string | undefined;
  readonly branch?: string | undefined;
  readonly prefix: string;
  readonly objectFormat: 'sha1' | 'sha256';
  /** Addresses from which the base can be fetched, without passwords. */
  readonly remotes: string[];
}

export class ShippedTrees {
  /** The workspace is read and written by one of these at a time. */
  readonly #queueUp = createQueue();
  /** Patches are read while an earlier one is applied. */
  readonly #queueReading = createQueue();
  /** A reading that has not begun yet: it is good for all who ask until then. */
  #next: Promise<TreeState> | undefined;

  #repository: Promise<Repository> | undefined;
  readonly #known: KnownSettings = {};
  /** Its git directory is made. The objects of what an earlier process shipped stay there. */
  #created: Promise<unknown> | undefined;

  constructor(private readonly deps: ShippedTreesDeps) {}

  /** Reads the workspace as it is now. @throws MiniCcError `WORKTREE` when it is in no repository */
  capture(signal: AbortSignal): Promise<TreeState> {
    this.#next ??= this.#queueUp(async () => {
      this.#next = undefined;
      return this.#capture();
    });
    return withSignal(this.#next, signal);
  }

  /** What the base does not have, as a patch; empty when nothing. */
  async readPatch({base, start}: TreeState): Promise<Buffer> {
    const {snapshots, scratch, close} = await this.#openScratch();
    try {
      const from = base === undefined ? await snapshots.writeEmptyTree() : `${base}^{tree}`;
      const file = path.join(scratch, 'uncommitted.patch');
      await snapshots.writePatch(from, start, file);
      return await readFile(file);
    } finally {
      await close();
    }
  }

  /** The base with its history. */
  async readBundle({base}: TreeState): Promise<Buffer> {
    if (base === undefined) return Buffer.alloc(0);
    const {scratch, close} = await this.#openScratch();
    try {
      const file = path.join(scratch, 'base.bundle');
      // A bundle holds refs, not commits: HEAD may have moved since.
      const env = {GIT_DIR: this.#gitDir};
      await gitOrThrow(scratch, ['update-ref', `refs/bases/${base}`, base], {env});
      await gitOrThrow(scratch, ['bundle', 'create', '--quiet', file, `refs/bases/${base}`], {env});
      return await readFile(file);
    } finally {
      await close();
    }
  }

  /**
   * Brings what a run changed elsewhere into the workspace. What is there already stays: after a crash in between, call it again.
   * @param commits a bundle, kept beside
   */
  async bringBack(owner: WorktreeOwner, state: TreeState, patch: Buffer, commits?: Buffer): Promise<BroughtBack> {
    if (patch.length === 0 && !commits) return {applied: [], notes: []};
    const keepIn = this.deps.folders.run(owner.agentId);
    const {snapshots, scratch, close, repository} = await this.#openScratch();
    try {
      const notes = commits ? [await keepBundle(commits, keepIn, repository.top)] : [];
      if (patch.length === 0) return {applied: [], notes};
      const file = path.join(scratch, 'returned.patch');
      await writeFile(file, patch);
      const changes = await this.#queueReading(() => snapshots.changesOf(state.start, file));
      const {top, prefix, objectFormat} = repository;
      const hidden = this.#getHidden(repository);
      const deps = {
        origin: {top, prefix, objectFormat, start: state.start},
        snapshots,
        keepIn,
        scratch,
        isProtected: (name: string) => this.deps.isProtected(name) || isInside(path.join(top, name), hidden),
        writing: (files: readonly string[], work: () => Promise<void>) => this.deps.writing(owner, files, work),
      };
      return await this.#queueUp(() => deliver(deps, {changes, patch: file, notes}));
    } finally {
      await close();
    }
  }

  get #gitDir(): string {
    return path.join(this.deps.folders.trees(), 'state.git');
  }

  async #capture(): Promise<TreeState> {
    const {root} = this.deps;
    const repository = await openRepository(root, new AbortController().signal);
    const {top, head: base, branch, prefix} = repository;
    const objectFormat = repository.objectFormat as 'sha1' | 'sha256';
    const snapshots = await this.#openSnapshots(repository);
    const hidden = this.#getHidden(repository).filter((place) => isInside(place, [top]));
    await snapshots.include(await listTrackedIgnored(top, hidden));
    const {tree: start} = await snapshots.takeWhatFits(hidden.map((place) => path.relative(top, place)));
    const name = path.basename(top);
    const key = hash([start, base, branch, prefix, name, objectFormat]);
    const remotes = base === undefined ? [] : await findRemotes(top, base);
    return {
      key,
      repository: hash([top, repository.commonDir]),
      name,
      start,
      base,
      branch,
      prefix,
      objectFormat,
      remotes,
    };
  }

  /** Made once in a session and kept: its index knows the files that did not change. */
  async #openSnapshots(repository: Repository, index?: string): Promise<TreeSnapshots> {
    this.#created ??= readCopiedSettings(repository, new AbortController().signal).then((settings) =>
      TreeSnapshots.create(this.#gitDir, repository.top, repository, settings),
    );
    await this.#created;
    return new TreeSnapshots(this.#gitDir, repository.top, index, this.#known);
  }

  async #openScratch() {
    // What is needed of it here does not change while the session lasts.
    this.#repository ??= openRepository(this.deps.root, new AbortController().signal);
    const repository = await this.#repository;
    const folder = this.deps.folders.trees();
    await mkdir(folder, {recursive: true, mode: 0o700});
    const scratch = await mkdtemp(path.join(folder, 'scratch-'));
    const index = path.join(scratch, 'index');
    const snapshots = await this.#openSnapshots(repository, index);
    return {snapshots, scratch, repository, close: () => rm(scratch, {recursive: true, force: true})};
  }

  #getHidden({top}: Repository): readonly string[] {
    return this.deps.hidden().filter((place) => !isInside(top, [place]));
  }
}

/** One piece of work after the other. */
function createQueue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  };
}

function hash(parts: readonly (string | undefined)[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** Files that git ignores and tracks all the same: a snapshot would leave them out. */
async function listTrackedIgnored(top: string, hidden: readonly string[]): Promise<readonly string[]> {
  const listed = await gitOrThrow(top, ['ls-files', '-z', '--cached', '--ignored', '--exclude-standard']);
  const names = listed.toString().split('\0').filter(Boolean);
  return names.filter((name) => !isInside(path.join(top, name), hidden) && existsSync(path.join(top, name)));
}

async function withSignal<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const result = await work;
  signal.throwIfAborted();
  return result;
}

/** The addresses of remotes that have the commit, as of the last fetch. One with a password stays here. */
async function findRemotes(top: string, base: string): Promise<string[]> {
  const listed = await git(top, ['for-each-ref', '--contains', base, '--format=%(refname)', 'refs/remotes']);
  const names = new Set(
    listed.stdout
      .toString()
      .split('\n')
      .flatMap((ref) => ref.split('/')[2] ?? []),
  );
  const remotes: string[] = [];
  for (const name of names) {
    const {exitCode, stdout} = await git(top, ['config', '--get', `remote.${name}.url`]);
    const url = stdout.toString().trim();
    const hasSecret = URL.canParse(url) && new URL(url).password !== '';
    if (exitCode === 0 && url !== '' && !hasSecret) remotes.push(url);
  }
  return remotes;
}

/** @returns a line that says where it is */
async function keepBundle(commits: Buffer, keepIn: string, top: string): Promise<string> {
  try {
    await mkdir(keepIn, {recursive: true, mode: 0o700});
    const draft = await findUnusedPath(keepIn, '.commits.bundle');
    await writeFile(draft, commits, {mode: 0o600});
    const file = await findUnusedPath(keepIn, 'commits.bundle');
    await rename(draft, file);
    return `Its commits are kept too: git -C ${quoteForShell(top)} bundle list-heads ${quoteForShell(file)}; git fetch takes one from there`;
  } catch (error) {
    return `Its commits could not be kept beside its changes: ${getErrorMessage(error)}`;
  }
}
