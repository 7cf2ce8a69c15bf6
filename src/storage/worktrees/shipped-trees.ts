/**
 * Captures the workspace for other machines as a base commit, and a patch for what it lacks. The changes of a run there
 * come back as a patch too, and are brought into the workspace as from a worktree of this machine.
 */
import {existsSync} from 'node:fs';
import path from 'node:path';
import {z} from 'zod';
import type {BroughtBack, WorktreeOwner} from '../../core/contract/worktree.ts';
import {createQueue} from '../../core/util/background.ts';
import {hashJson} from '../../core/util/hash.ts';
import {type GitOptions, git, gitOrThrow, type KnownSettings, splitNames} from '../trees/git.ts';
import {openRepository, type Repository, readCopiedSettings, readHead} from '../trees/repository.ts';
import {Trees} from '../trees/trees.ts';
import {deliver, listHidden, type WorkspaceDeps} from './bring-back.ts';
import {keepBundle} from './commit-bundle.ts';

interface ShippedTreesDeps extends WorkspaceDeps {
  /** Folders of the session, called each time: `trees` is only for this class, `run` is a run's own. */
  readonly folders: {trees(): string; run(runId: string): string};
}

/** A name that stays in its folder, and is not that of git's own. */
function isFolderName(name: string): boolean {
  return name !== '' && !/^(?:\.{1,2}|\.git)$/i.test(name) && !/[/\0]/.test(name);
}

/** The workspace at one moment, as it is sent to other machines. */
export const treeSchema = z.object({
  /** The key is the same for the same files, base, branch and folder. */
  key: z.string().regex(/^[0-9a-f]{64}$/),
  /** Identifies the repository on its machine. Trees of one repository share their objects. */
  repository: z.string().regex(/^[0-9a-f]{64}$/),
  /** Name of the tree's folder. */
  name: z.string().max(255).refine(isFolderName),
  /** Git tree of all its files, by their bytes. */
  start: z.string().regex(/^[0-9a-f]{40,64}$/),
  base: z
    .string()
    .regex(/^[0-9a-f]{40,64}$/)
    .optional(),
  branch: z
    .string()
    .regex(/^refs\/heads\/(?!.*(?:\.\.|\/\/|@\{))[^\s~^:?*[\\\p{Cc}]{1,255}$/u)
    .optional(),
  /** Folder of the workspace below the top; empty when it is the top. */
  prefix: z
    .string()
    .max(4096)
    .refine((prefix) => prefix === '' || prefix.split('/').every(isFolderName)),
  objectFormat: z.enum(['sha1', 'sha256']),
  /** Addresses from which the base can be fetched, without passwords. */
  remotes: z.array(z.string().max(2_000)).max(20),
});
export type TreeState = z.output<typeof treeSchema>;

export class ShippedTrees {
  /** Lets one task at a time read or write the workspace. */
  readonly #queueUp = createQueue();
  /** A capture that has not begun yet. All callers until then share it. */
  #next: Promise<TreeState> | undefined;
  /** Reads patches one at a time, while an earlier one may be applied. */
  readonly #queueReading = createQueue();
  /** By git directory. The needed facts of the repository do not change while a session lasts. */
  readonly #opened = new Map<string, Promise<{readonly repository: Repository; readonly trees: Trees}>>();

  constructor(private readonly deps: ShippedTreesDeps) {}

  /** Captures the workspace. @throws MiniCcError `WORKTREE` when it is in no repository */
  async capture(signal: AbortSignal): Promise<TreeState> {
    this.#next ??= this.#queueUp(async () => {
      this.#next = undefined;
      return this.#capture();
    });
    const state = await this.#next;
    signal.throwIfAborted();
    return state;
  }

  /** Returns a patch for what the base lacks; empty when nothing is missing. */
  async readPatch({base, start}: TreeState): Promise<Buffer> {
    const {trees} = await this.#open();
    return trees.readPatch(base && `${base}^{tree}`, start);
  }

  /** Returns the base with its history as a bundle. */
  async readBundle({base}: TreeState): Promise<Buffer> {
    return base === undefined ? Buffer.alloc(0) : (await this.#open()).trees.readBundle(base);
  }

  /**
   * Brings a run's changes from elsewhere into the workspace. Changes that are there already stay, so it can be called
   * again after a crash in between.
   * @param commits a bundle that is stored beside the changes
   */
  async bringBack(owner: WorktreeOwner, {start}: TreeState, patch: Buffer, commits?: Buffer): Promise<BroughtBack> {
    if (patch.length === 0 && !commits) return {applied: [], notes: []};
    const keepIn = this.deps.folders.run(owner.agentId);
    const {repository, trees} = await this.#open();
    const {top, prefix, objectFormat} = repository;
    const notes = commits ? await keepBundle(commits, keepIn, top) : [];
    if (patch.length === 0) return {applied: [], notes};
    const deps = {workspace: this.deps, owner, origin: {top, prefix, objectFormat, start}, trees, keepIn};
    const end = await this.#queueReading(() => trees.patched(start, patch));
    const changes = await trees.diff(start, end);
    return this.#queueUp(() => deliver(deps, {changes, end, notes}));
  }

  async #capture(): Promise<TreeState> {
    const {repository, trees} = await this.#open();
    const {top, prefix, commonDir} = repository;
    // The project's settings do not change during the capture.
    const options = {known: {}};
    const {head: base, branch} = await readHead(repository, options);
    const objectFormat = repository.objectFormat as TreeState['objectFormat'];
    const without = listHidden(this.deps, top);
    const {tree: start} = await trees.capture({without, with: await listTrackedIgnored(top, options)});
    const name = path.basename(top);
    const key = hashJson([start, base, branch, prefix, name, objectFormat]);
    const remotes = base === undefined ? [] : await findRemotes(top, base, options);
    return {key, repository: hashJson([top, commonDir]), name, start, base, branch, prefix, objectFormat, remotes};
  }

  /** Opens the trees once in a session: their index knows the unchanged files, and the objects that were shipped. */
  #open() {
    const gitDir = path.join(this.deps.folders.trees(), 'state.git');
    const opened = this.#opened.get(gitDir) ?? this.#openTrees(gitDir);
    this.#opened.set(gitDir, opened);
    opened.catch(() => this.#opened.delete(gitDir));
    return opened;
  }

  async #openTrees(gitDir: string) {
    const known: KnownSettings = {};
    const repository = await openRepository(this.deps.root, {known});
    const settings = await readCopiedSettings(repository, {known});
    const beginning = {from: repository, settings, without: listHidden(this.deps, repository.top), known};
    return {repository, trees: await Trees.create(gitDir, {top: repository.top, submodules: true}, beginning)};
  }
}

/** Lists files that git both ignores and tracks. A capture would leave out those that are new in the index. */
async function listTrackedIgnored(top: string, options: GitOptions): Promise<readonly string[]> {
  const {stdout} = await gitOrThrow(top, ['ls-files', '-z', '--cached', '--ignored', '--exclude-standard'], options);
  return splitNames(stdout)
    .map(String)
    .filter((name) => existsSync(path.join(top, name)));
}

/**
 * Returns the addresses of remotes that have the commit, as of the last fetch. An address with a password is left out.
 */
async function findRemotes(top: string, base: string, options: GitOptions): Promise<string[]> {
  const listed = await git(top, ['for-each-ref', '--contains', base, '--format=%(refname)', 'refs/remotes'], options);
  const names = new Set(
    listed.stdout
      .toString()
      .split('\n')
      .flatMap((ref) => ref.split('/')[2] ?? []),
  );
  const remotes: string[] = [];
  for (const name of names) {
    const {exitCode, stdout} = await git(top, ['config', '--get', `remote.${name}.url`], options);
    const url = stdout.toString().trim();
    const hasSecret = URL.canParse(url) && new URL(url).password !== '';
    if (exitCode === 0 && url !== '' && !hasSecret) remotes.push(url);
  }
  return remotes;
}
