/**
 * Makes the workspaces of trials. The state that a case names is laid out once, as a base; each trial gets a copy of
 * it, which costs far less than a worktree. Agents work there as in a worktree, but nothing is brought back.
 *
 * All workspaces are in one temporary folder. When mini-cc is killed, its next start removes the folder.
 */
import {createHash} from 'node:crypto';
import {constants, existsSync, lstatSync, mkdirSync, readdirSync} from 'node:fs';
import {chmod, copyFile, lstat, mkdir, readFile, realpath, symlink, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {setImmediate} from 'node:timers/promises';
import {isDeepStrictEqual} from 'node:util';
import type {Worktree, WorktreeOwner, Worktrees} from '../core/contract/worktree.ts';
import {createQueue} from '../core/util/background.ts';
import {getErrorMessage, ignoreMissing, MiniCcError} from '../core/util/errors.ts';
import {createTemporaryFolder, removeTemporaryFolder} from '../core/util/files/temporary-folder.ts';
import {sha256} from '../core/util/hash.ts';
import {isInside} from '../core/util/paths.ts';
import {runProgram} from '../core/util/processes.ts';
import {git, gitOrThrow, splitNames} from '../storage/trees/git.ts';
import {findRepository, type Repository, resolveCommit} from '../storage/trees/repository.ts';
import {checkOutCommit, createTree, mapPath} from '../storage/worktrees/git-worktrees.ts';
import {removeTree} from '../storage/worktrees/worktree-folder.ts';
import {MAX_BYTES} from './case-file.ts';
import type {ChangedFile, EvalCase} from './contract.ts';

/** The state of the workspace that a case asks for. */
type CaseState = Pick<EvalCase, 'files' | 'commit' | 'patch' | 'link'>;

export interface Base {
  /** Identifies the files of the base. */
  readonly id: string;
  readonly top: string;
  /** Path from `top` to the workspace. */
  readonly prefix: string;
  readonly repository: Repository | undefined;
  /** Number of copies that one process makes or removes. */
  readonly atOnce: number;
  /** Whether git ignores a file, as it said so far. */
  readonly ignored: Map<string, boolean>;
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

interface ExpectedTrial {
  readonly evalCase: EvalCase;
  readonly base: Base;
  hasCopy?: boolean;
  /** Present while the run is at work. */
  folder?: TrialFolder;
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

/** Copies of a small base that one process makes ahead, since each start of a process blocks mini-cc for milliseconds. */
const COPIES_AT_ONCE = 16;
const MAX_SMALL_FILES = 500;
/** Files whose stamps are taken in one go. */
const STAMPS_AT_ONCE = 256;
const COPY = 'from=$1; shift; for to do cp -a -- "$from" "$to" || exit; done';

export class TrialWorkspaces implements Worktrees {
  #folder: string | undefined;
  readonly #bases = new Map<string, Promise<Base>>();
  /** By the id of the run. */
  readonly #trials = new Map<string, ExpectedTrial>();
  /** Copies of bases that no trial has yet. */
  readonly #copies = new Map<Base, Promise<string>[]>();
  /** Folders of ended trials that wait for their removal. */
  readonly #left: string[] = [];
  /** Makes copies one process after the other, since many at a time would all be late. */
  readonly #queueUp = createQueue();
  /** Copies and removals in progress. */
  readonly #working = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  #count = 0;

  constructor(private readonly deps: WorkspacesDeps) {}

  /** Lays out the state of a case, once for all cases with the same one. @throws MiniCcError when that fails */
  getBase({commit, patch}: CaseState, signal: AbortSignal): Promise<Base> {
    const key = JSON.stringify([commit, patch && sha256(patch)]);
    const known = this.#bases.get(key) ?? this.#createBase(commit, patch, signal);
    this.#bases.set(key, known);
    return known;
  }

  /** Says which case a run that will begin is a trial of. */
  expect(runId: string, evalCase: EvalCase, base: Base): void {
    this.#trials.set(runId, {evalCase, base});
  }

  getTrial(runId: string): ExpectedTrial | undefined {
    return this.#trials.get(runId);
  }

  /** Forgets a run that ended, maybe before it had a workspace. */
  forget(runId: string): void {
    this.#trials.delete(runId);
  }

  async open({agentId}: WorktreeOwner, signal: AbortSignal): Promise<Worktree> {
    const trial = this.#trials.get(agentId);
    if (!trial) throw new MiniCcError('WORKTREE', 'this run is no trial');
    trial.hasCopy = true;
    const folder = await this.lay(trial.base, trial.evalCase, signal);
    trial.folder = folder;
    const {top, root, seen, base} = folder;
    const main = base.repository?.top ?? this.deps.root;
    const remove = () => this.remove(folder);
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
    const top = await this.#takeCopy(base);
    signal.throwIfAborted();
    const root = path.join(top, base.prefix);
    for (const {to, content} of files) await writeInside(root, to, content);
    const linked: string[] = [];
    for (const name of link) linked.push(...(await this.#link(root, name)));
    return {base, top, root, seen: [...(base.repository?.objects ?? []), ...linked]};
  }

  /** Takes a copy, and begins to make further copies for the trials that wait. */
  #takeCopy(base: Base): Promise<string> {
    const copies = this.#copies.get(base) ?? [];
    this.#copies.set(base, copies);
    const waiting = [...this.#trials.values()].filter((each) => each.base === base && !each.hasCopy);
    const missing = waiting.length + 1 - copies.length;
    if (copies.length === 0 || (missing > 0 && copies.length <= base.atOnce / 2))
      copies.push(...this.#copy(base, Math.min(base.atOnce, Math.max(1, missing))));
    return copies.shift()!;
  }

  #copy({top}: Base, count: number): readonly Promise<string>[] {
    const tops = Array.from({length: count}, () => {
      this.#count += 1;
      const folder = path.join(this.#getFolder(), 'trials', String(this.#count));
      mkdirSync(folder, {recursive: true, mode: 0o700});
      return path.join(folder, path.basename(top));
    });
    const {signal} = this.#closing;
    const made = this.#queueUp(() => runProgram('sh', ['-c', COPY, 'sh', top, ...tops], {signal}));
    this.#track(made);
    return tops.map(async (each) => {
      const {exitCode, stderr} = await made;
      if (exitCode === 0) return each;
      throw new MiniCcError('WORKTREE', `its workspace could not be copied: ${stderr.trim()}`);
    });
  }

  /** Removes the workspace of a trial in the background, together with others. */
  remove({top, base}: TrialFolder): void {
    this.#left.push(path.dirname(top));
    if (this.#left.length >= base.atOnce) this.#removeLeft();
  }

  #removeLeft(): void {
    const folders = this.#left.splice(0);
    if (folders.length === 0) return;
    this.#track(
      runProgram('rm', ['-rf', '--', ...folders]).then(async ({exitCode}) => {
        if (exitCode !== 0) for (const folder of folders) await removeTree(folder);
      }),
    );
  }

  #track(work: Promise<unknown>): void {
    const done: Promise<void> = work
      // The caller that needs a copy gets the error. Folders that are not removed here are removed at the end, with the
      // whole folder.
      .then(
        () => undefined,
        () => undefined,
      )
      .finally(() => this.#working.delete(done));
    this.#working.add(done);
  }

  async settled(): Promise<void> {
    this.#removeLeft();
    await Promise.all(this.#working);
  }

  async close(): Promise<void> {
    this.#closing.abort();
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
      const found = await resolveCommit(repository, commit, {signal});
      if (found === undefined) throw new MiniCcError('CASE', `commit ${commit} does not exist in this repository`);
      id = found;
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
      // Paths of `git diff` begin at the top. Below it, git would silently leave out the rest.
      const from = /^diff --git /m.test(patch.toString('latin1')) ? top : path.join(top, prefix);
      const {exitCode, stderr} = await git(from, ['apply', '--whitespace=nowarn', '-'], options);
      if (exitCode !== 0) throw new MiniCcError('CASE', `the patch does not apply: ${stderr.trim().split('\n')[0]}`);
      id = sha256(id + sha256(patch));
    }
    const files = (await takeStamps(top)).size;
    const atOnce = files <= MAX_SMALL_FILES ? COPIES_AT_ONCE : 1;
    return {id, top, prefix, repository, atOnce, ignored: new Map()};
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
      sums.update(`${name}\0${sha256(await readFile(target))}\n`);
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

/** Reads in this thread, since calls that wait for other threads take several times as long. */
export async function takeStamps(root: string): Promise<Stamps> {
  const stamps = new Map<string, string>();
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const each of readdirSync(folder, {withFileTypes: true})) {
      const place = path.join(folder, each.name);
      if (each.isDirectory()) {
        if (each.name !== '.git') folders.push(place);
        continue;
      }
      const stat = lstatSync(place, {bigint: true, throwIfNoEntry: false});
      if (!stat) continue;
      stamps.set(path.relative(root, place), [stat.size, stat.mtimeNs, stat.ctimeNs, stat.ino, stat.mode].join(' '));
      // Other runs go on meanwhile.
      if (stamps.size % STAMPS_AT_ONCE === 0) await setImmediate();
    }
  }
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
  if (base.repository) await askIgnored(base, baseRoot, touched);
  const changed: ChangedFile[] = [];
  for (const name of touched.filter((each) => !base.ignored.get(each)).toSorted()) {
    const bySetup = begun.get(name) === now.get(name);
    const file = await readChanged(path.join(root, name));
    const isSame =
      file.content !== undefined &&
      !given.has(name) &&
      before.get(name) === begun.get(name) &&
      isDeepStrictEqual(file, await readChanged(path.join(baseRoot, name)));
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
  // A larger file is not kept for checks that are made later.
  if (stat.size > MAX_BYTES) return {kind: 'file', mode};
  const content = await readFile(place).catch((error: unknown) => getErrorMessage(error));
  return typeof content === 'string' ? {kind: 'other'} : {kind: 'file', mode, content: content.toString('base64')};
}

/** Asks git what it has not been asked yet. It runs in the base, which no agent has touched. */
async function askIgnored({ignored}: Base, baseRoot: string, names: readonly string[]): Promise<void> {
  const others = names.filter((name) => !ignored.has(name));
  const listed = await listIgnored(baseRoot, others);
  for (const name of others) ignored.set(name, listed.has(name));
}

/** @param names paths from the folder @returns those that git ignores */
export async function listIgnored(folder: string, names: readonly string[]): Promise<ReadonlySet<string>> {
  if (names.length === 0) return new Set();
  const {exitCode, stdout} = await git(folder, ['check-ignore', '-z', '--stdin'], {input: `${names.join('\0')}\0`});
  return new Set(exitCode === 0 ? splitNames(stdout).map(String) : []);
}
