/**
 * Makes the workspaces of trials. The state that a case names is laid out once, as a base; each trial gets a copy of it,
 * which costs far less than a worktree. Agents work there as in a worktree, but nothing is brought back.
 *
 * All is in one temporary folder. When mini-cc is killed, its next start removes it.
 */
import {createHash} from 'node:crypto';
import {constants, existsSync} from 'node:fs';
import {chmod, copyFile, lstat, mkdir, readdir, readFile, realpath, symlink, writeFile} from 'node:fs/promises';
import path from 'node:path';
import type {Worktree, WorktreeOwner, Worktrees} from '../core/contract/worktree.ts';
import {getErrorMessage, ignoreMissing, MiniCcError} from '../core/util/errors.ts';
import {createTemporaryFolder, removeTemporaryFolder} from '../core/util/files/temporary-folder.ts';
import {isInside} from '../core/util/paths.ts';
import {runProgram} from '../core/util/processes.ts';
import {git, gitOrThrow, splitNames} from '../storage/trees/git.ts';
import {findRepository, type Repository} from '../storage/trees/repository.ts';
import {checkOutCommit, createTree, mapPath} from '../storage/worktrees/git-worktrees.ts';
import {removeTree} from '../storage/worktrees/worktree-folder.ts';
import type {ChangedFile, EvalCase} from './contract.ts';

/** What a case asks of its workspace. */
type CaseState = Pick<EvalCase, 'files' | 'commit' | 'patch' | 'link'>;

export interface Base {
  /** Identifies the files of the base. */
  readonly id: string;
  readonly top: string;
  /** Path from `top` to the workspace. */
  readonly prefix: string;
  readonly repository: Repository | undefined;
}

/** The workspace of one trial. */
export interface TrialFolder {
  readonly base: Base;
  readonly top: string;
  /** Folder in which the agent works. */
  readonly root: string;
  /** Folders outside that commands may read. */
  readonly seen: readonly string[];
}

interface WorkspacesDeps {
  /** The real workspace, with links resolved. It is only read. */
  readonly root: string;
  readonly home: string;
  /** Lists the files of a workspace without git, relative to it. */
  listFiles(): Promise<readonly string[]>;
  /** Absolute paths that no trial sees. */
  readonly without: readonly string[];
}

/** A larger file is not kept for checks that are made later. */
const MAX_KEPT_BYTES = 5 * 1024 * 1024;
const AT_ONCE = 64;

export class TrialWorkspaces implements Worktrees {
  #folder: string | undefined;
  readonly #bases = new Map<string, Promise<Base>>();
  readonly #expected = new Map<string, {readonly state: CaseState; readonly base: Base}>();
  readonly #opened = new Map<string, TrialFolder>();
  readonly #removals = new Set<Promise<void>>();
  #count = 0;

  constructor(private readonly deps: WorkspacesDeps) {}

  /** Lays out the state of a case, once for all cases with the same one. @throws MiniCcError when that fails */
  getBase({commit, patch}: CaseState, signal: AbortSignal): Promise<Base> {
    const key = JSON.stringify([commit, patch && hash(patch)]);
    const known = this.#bases.get(key) ?? this.#createBase(commit, patch, signal);
    this.#bases.set(key, known);
    return known;
  }

  /** Says which state the workspace of a run that will begin shows. */
  expect(runId: string, state: CaseState, base: Base): void {
    this.#expected.set(runId, {state, base});
  }

  /** Returns the workspace of a run at work. */
  getFolder(runId: string): TrialFolder {
    return this.#opened.get(runId)!;
  }

  async open({agentId}: WorktreeOwner, signal: AbortSignal): Promise<Worktree> {
    const expected = this.#expected.get(agentId);
    if (!expected) throw new MiniCcError('WORKTREE', 'this run is no trial');
    const folder = await this.lay(expected.base, expected.state, signal);
    this.#opened.set(agentId, folder);
    const {top, root, seen, base} = folder;
    const main = base.repository?.top ?? this.deps.root;
    const remove = () => {
      this.#opened.delete(agentId);
      this.remove(folder);
    };
    return {
      top,
      root,
      gitObjects: seen,
      notes: [],
      inWorkspace: (file) => mapPath(file, top, main),
      bringBack: async () => ({applied: [], notes: []}),
      discard: remove,
      abandon: remove,
    };
  }

  /** Copies a base, and adds the files and links of the case. @throws MiniCcError with what cannot be made */
  async lay(base: Base, {files, link}: CaseState, signal: AbortSignal): Promise<TrialFolder> {
    this.#count += 1;
    const top = path.join(this.#getFolder(), 'trials', String(this.#count), path.basename(base.top));
    await mkdir(path.dirname(top), {recursive: true, mode: 0o700});
    const {exitCode, stderr} = await runProgram('cp', ['-a', '--', base.top, top], {signal});
    signal.throwIfAborted();
    if (exitCode !== 0) throw new MiniCcError('WORKTREE', `its workspace could not be copied: ${stderr.trim()}`);
    const root = path.join(top, base.prefix);
    for (const {to, content} of files) await writeInside(root, to, content);
    const linked: string[] = [];
    for (const name of link) linked.push(...(await this.#link(root, name)));
    return {base, top, root, seen: [...(base.repository?.objects ?? []), ...linked]};
  }

  /** Removes the workspace of a trial in the background. */
  remove({top}: TrialFolder): void {
    const removed = removeTree(path.dirname(top))
      // The whole folder is removed at the end.
      .catch(() => undefined)
      .finally(() => this.#removals.delete(removed));
    this.#removals.add(removed);
  }

  async settled(): Promise<void> {
    await Promise.all(this.#removals);
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#bases.values());
    await this.settled();
    if (this.#folder !== undefined) {
      await removeTree(path.join(this.#folder, 'trials')).catch(() => undefined);
      removeTemporaryFolder(this.#folder);
    }
  }

  #getFolder(): string {
    this.#folder ??= createTemporaryFolder(this.deps.home);
    return this.#folder;
  }

  async #createBase(commit: string | undefined, patch: Buffer | undefined, signal: AbortSignal): Promise<Base> {
    const {root, without} = this.deps;
    const repository = await findRepository(root, {signal}).catch(() => undefined);
    const folder = path.join(this.#getFolder(), `base-${this.#bases.size}`);
    const top = path.join(folder, path.basename(repository?.top ?? root));
    const gitDir = path.join(folder, 'state.git');
    await mkdir(top, {recursive: true, mode: 0o700});
    let id: string;
    if (commit !== undefined) {
      if (!repository) throw new MiniCcError('CASE', `commit ${commit} needs a git repository`);
      const {exitCode, stdout} = await git(
        root,
        ['rev-parse', '--verify', '--quiet', '--end-of-options', `${commit}^{commit}`],
        {signal},
      );
      if (exitCode !== 0) throw new MiniCcError('CASE', `commit ${commit} does not exist in this repository`);
      id = stdout.toString().trim();
      await checkOutCommit(repository, id, top, gitDir, signal);
      await this.#leaveOut(repository, top, signal);
    } else if (repository) {
      ({start: id} = await createTree(repository, top, gitDir, without, {signal, known: {}}));
    } else {
      id = await this.#copyFiles(top);
    }
    const prefix = repository?.prefix ?? '';
    if (patch) {
      const options = {input: patch, isForeign: true, signal};
      // Paths of `git diff` begin at the top. Below it, git would leave out the rest without a word.
      const from = /^diff --git /m.test(patch.toString('latin1')) ? top : path.join(top, prefix);
      const {exitCode, stderr} = await git(from, ['apply', '--whitespace=nowarn', '-'], options);
      if (exitCode !== 0) throw new MiniCcError('CASE', `the patch does not apply: ${stderr.trim().split('\n')[0]}`);
      id = hash(id, patch);
    }
    return {id, top, prefix, repository};
  }

  /** Removes from a checked out commit what no trial sees. */
  async #leaveOut(repository: Repository, top: string, signal: AbortSignal): Promise<void> {
    const places = this.deps.without.flatMap((place) => mapPath(place, repository.top, top) ?? []);
    const names = places.map((place) => path.relative(top, place));
    if (names.length === 0) return;
    const listed = await gitOrThrow(top, ['ls-files', '-z', '--', ...names], {signal});
    if (listed.stdout.length === 0) return;
    await gitOrThrow(top, ['update-index', '-z', '--skip-worktree', '--stdin'], {input: listed.stdout, signal});
    for (const place of places) if (existsSync(place)) await removeTree(place);
  }

  /** @returns a hash of the files */
  async #copyFiles(top: string): Promise<string> {
    const {root, without} = this.deps;
    const sums = createHash('sha256');
    for (const name of (await this.deps.listFiles()).toSorted()) {
      const source = path.join(root, name);
      const stat = await lstat(source).catch(ignoreMissing);
      if (!stat?.isFile() || isInside(source, without)) continue;
      const target = path.join(top, name);
      await mkdir(path.dirname(target), {recursive: true});
      await copyFile(source, target, constants.COPYFILE_FICLONE);
      sums.update(`${name}\0${hash(await readFile(target))}\n`);
    }
    return sums.digest('hex');
  }

  /** Links an ignored folder of the workspace into a trial. Confined commands see it read-only. */
  async #link(root: string, name: string): Promise<readonly string[]> {
    const source = await realpath(path.join(this.deps.root, name)).catch(ignoreMissing);
    if (source === undefined) throw new MiniCcError('CASE', `link: ${name} does not exist in the workspace`);
    if (!isInside(source, [this.deps.root])) throw new MiniCcError('CASE', `link: ${name} leads out of the workspace`);
    const target = path.join(root, name);
    if (await lstat(target).catch(ignoreMissing)) throw new MiniCcError('CASE', `link: ${name} is no ignored folder`);
    await mkdir(path.dirname(target), {recursive: true});
    await symlink(source, target);
    return [source];
  }
}

/** Writes a file below a folder. @throws MiniCcError when a link or a file is in the way */
async function writeInside(root: string, name: string, content: Buffer): Promise<void> {
  const target = path.join(root, name);
  const folder = path.dirname(target);
  await mkdir(folder, {recursive: true});
  const isOutside = !isInside(await realpath(folder), [await realpath(root)]);
  const stat = await lstat(target).catch(ignoreMissing);
  if (isOutside || (stat && !stat.isFile())) throw new MiniCcError('CASE', `files: ${name} is no place for a file`);
  await writeFile(target, content);
}

/** Size, times and kind of each file of a trial, by its path. */
type Stamps = ReadonlyMap<string, string>;

export async function takeStamps(root: string): Promise<Stamps> {
  const stamps = new Map<string, string>();
  const walk = async (folder: string): Promise<void> => {
    const entries = await readdir(folder, {withFileTypes: true});
    const visit = async (name: string, isFolder: boolean) => {
      const place = path.join(folder, name);
      if (isFolder) return name === '.git' ? undefined : walk(place);
      const stat = await lstat(place, {bigint: true}).catch(ignoreMissing);
      if (stat)
        stamps.set(path.relative(root, place), [stat.size, stat.mtimeNs, stat.ctimeNs, stat.ino, stat.mode].join(' '));
      return undefined;
    };
    for (let at = 0; at < entries.length; at += AT_ONCE) {
      await Promise.all(entries.slice(at, at + AT_ONCE).map((each) => visit(each.name, each.isDirectory())));
    }
  };
  await walk(root);
  return stamps;
}

/**
 * Lists the files of a trial that differ from its beginning, without those that git ignores.
 * @param before stamps before `setup` @param begun stamps when the run began
 */
export async function listChanges(
  {root, base}: TrialFolder,
  {before, begun}: {readonly before: Stamps; readonly begun: Stamps},
  given: ReadonlySet<string>,
): Promise<readonly ChangedFile[]> {
  const now = await takeStamps(root);
  const names = new Set([...before.keys(), ...begun.keys(), ...now.keys()]);
  const touched = [...names].filter((name) => before.get(name) !== now.get(name) || begun.get(name) !== now.get(name));
  const baseRoot = path.join(base.top, base.prefix);
  const ignored = base.repository ? await listIgnored(baseRoot, touched) : new Set<string>();
  const changed: ChangedFile[] = [];
  for (const name of touched.filter((each) => !ignored.has(each)).toSorted()) {
    const bySetup = begun.get(name) === now.get(name);
    const file = await readChanged(path.join(root, name));
    const isSame =
      !given.has(name) && before.get(name) === begun.get(name) && (await isEqual(file, path.join(baseRoot, name)));
    if (!isSame) changed.push({path: name, bySetup, ...file});
  }
  return changed;
}

/** Makes a workspace that looks as a trial left it, from what was kept of it. */
export async function restoreChanges({root}: TrialFolder, changed: readonly ChangedFile[]): Promise<void> {
  for (const {path: name, kind, content, mode} of changed) {
    const place = path.join(root, name);
    if (kind === 'deleted') await removeTree(place);
    if (kind !== 'file' || content === undefined) continue;
    await mkdir(path.dirname(place), {recursive: true});
    await writeFile(place, Buffer.from(content, 'base64'));
    if (mode !== undefined) await chmod(place, mode);
  }
}

async function readChanged(place: string): Promise<Omit<ChangedFile, 'path' | 'bySetup'>> {
  const stat = await lstat(place).catch(ignoreMissing);
  if (!stat) return {kind: 'deleted'};
  if (!stat.isFile()) return {kind: 'other'};
  const mode = stat.mode & 0o777;
  if (stat.size > MAX_KEPT_BYTES) return {kind: 'file', mode};
  const content = await readFile(place).catch((error: unknown) => getErrorMessage(error));
  return typeof content === 'string' ? {kind: 'other'} : {kind: 'file', mode, content: content.toString('base64')};
}

async function isEqual({kind, content, mode}: Omit<ChangedFile, 'path' | 'bySetup'>, place: string): Promise<boolean> {
  const before = await readChanged(place);
  return (
    before.kind === kind &&
    before.kind === 'file' &&
    content !== undefined &&
    before.content === content &&
    before.mode === mode
  );
}

/** Git runs in the base, which no agent has touched. */
async function listIgnored(baseRoot: string, names: readonly string[]): Promise<ReadonlySet<string>> {
  if (names.length === 0) return new Set();
  const {exitCode, stdout} = await git(baseRoot, ['check-ignore', '-z', '--stdin'], {input: `${names.join('\0')}\0`});
  return new Set(exitCode === 0 ? splitNames(stdout).map(String) : []);
}

function hash(...parts: readonly (string | Buffer)[]): string {
  const sum = createHash('sha256');
  for (const part of parts) sum.update(part).update('\0');
  return sum.digest('hex');
}
