/**
 * The one engine of trees. A tree is the files of a folder at one moment, stored as a git tree in a git directory of
 * mini-cc's own.
 *
 * A tree has the bytes of the files. Settings, filters and attributes of the project neither run nor convert anything.
 * The git directory borrows the objects of the project's repository, and its index begins as a copy of the project's,
 * so that a capture reads only files that git does not know. Ignored files are left out, by the ignore files of the
 * folder, the exclude file of the project and the excludes of the caller. Two trees give the changes between them, and
 * a patch. Other work on trees uses a separate index, so that it does not disturb captures.
 *
 * - Checkpoints capture the workspace before and after each command, with limits, and read contents for undo.
 * - A worktree captures the workspace, checks the tree out, and captures the result. Its changes are a patch.
 * - Shipped trees capture the workspace, and read what the base commit lacks as a patch for another machine.
 * - The tree cache on that machine makes the tree from base and patch, and checks it out.
 * - The fingerprint of a workspace needs no contents. It asks git which files changed, and has no tree.
 */
import {existsSync} from 'node:fs';
import {mkdtemp, readFile, rename, rm, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {setImmediate} from 'node:timers/promises';
import {inBackground, neverRejects} from '../../core/util/background.ts';
import {getErrorCode} from '../../core/util/errors.ts';
import {isInside} from '../../core/util/paths.ts';
import {CaptureShell, DRAFT, ENTRIES, IDS, NAMES, RECORD} from './capture-shell.ts';
import {blobId, readContentSync, readEntrySync} from './file-state.ts';
import {type GitOptions, gitOrThrow, type KnownSettings, parseSizes, splitNames, toOwnSettings} from './git.ts';
import {type CaptureLimits, chooseFiles, type LeftOutFile, LIST_DIFFERING} from './listed-files.ts';
import {copyIndex, formatEntries, type IndexEntry, REMOVED, readProjectIndex} from './project-index.ts';
import {createGitDirectory, type Repository, type Settings} from './repository.ts';
import {ABSENT, parseDiff, parseRecorded, type Recorded, type TreeDiff} from './tree-diff.ts';

/** Number of files from which on new objects go into one pack, because single files take several times as long. */
const MIN_PACKED = 200;
const INTO_A_PACK = [['core.bigFileThreshold', '1']] as const;
/** One process would wait for the disk at each file. */
const IN_PARALLEL = [['checkout.workers', '4']] as const;
/** Number of files that are compared before other work of the process gets its turn. */
const FILES_AT_ONCE = 100;
const SHA256_CHARS = 64;
const SUBMODULE = '160000';
const NUL = Buffer.alloc(1);

interface Capture {
  readonly tree: string;
  readonly leftOut: readonly LeftOutFile[];
  /**
   * Files that this capture added or removed, by name. The value is the permission bits when they differ from those of
   * a new file, because git does not store them.
   */
  readonly touched: ReadonlyMap<string, number | undefined>;
}

interface Place {
  /** Folder of the files, with links resolved. Ignore files below it apply, and names are relative to it. */
  readonly top: string;
  /** Folder that is captured. Default: `top`. */
  readonly root?: string | undefined;
  /** File of the index. Default: a file in the git directory. */
  readonly index?: string | undefined;
  readonly limits?: CaptureLimits | undefined;
  /** Whether trees contain the commits of submodules. */
  readonly submodules?: boolean | undefined;
  /** Milliseconds for one call of git. Default: half an hour. */
  readonly limitMs?: number | undefined;
  /** Whether captures follow each other, so that a shell for their lists is kept. */
  readonly isCapturedOften?: boolean | undefined;
}

interface Beginning {
  /** Repository of the folder; undefined when there is none whose objects can be borrowed. */
  readonly from: Repository | undefined;
  readonly settings?: Settings;
  readonly excludes?: readonly string[];
  /** Absolute paths that every capture leaves out. */
  readonly without?: readonly string[] | undefined;
  readonly known?: KnownSettings;
}

interface CaptureOptions {
  /** Absolute paths that are left out and not reported. */
  readonly without?: readonly string[] | undefined;
  /** Files, relative to the top, that are captured although git ignores them. */
  readonly with?: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

export class Trees {
  readonly index: string;
  /** Ids of contents that the git directory has itself, and does not only borrow. */
  readonly #owned = new Set<string>();
  #shell: CaptureShell | undefined;
  /** The tree that was last written from the index. */
  #lastTree: string | undefined;
  /** The difference that the last capture found. */
  #lastDiff: {readonly from: string; readonly to: string; readonly found: readonly TreeDiff[]} | undefined;

  /** @param gitDir a directory that `create` made */
  constructor(
    private readonly gitDir: string,
    private readonly place: Place,
    /** Settings of the git directory. They can be cached, because no other program changes them. */
    private readonly known: KnownSettings = {},
  ) {
    this.index = place.index ?? path.join(gitDir, 'index');
  }

  /** Makes or opens the git directory, which no other process may use. @throws MiniCcError `GIT_FAILED` */
  static async create(
    gitDir: string,
    place: Place,
    {from, settings, excludes, without = [], known = {}}: Beginning,
    signal?: AbortSignal,
  ): Promise<Trees> {
    createGitDirectory(gitDir, {use: 'trees', from, settings, excludes});
    const trees = new Trees(gitDir, place, toOwnSettings(known));
    // A killed mini-cc may have left the lock.
    await rm(`${trees.index}.lock`, {force: true});
    if (from && !existsSync(trees.index)) await trees.#beginWith(from, without, known, signal);
    return trees;
  }

  /** Returns the same trees for the files of another folder, which are to become those of the index. */
  elsewhere(top: string): Trees {
    return new Trees(this.gitDir, {top, index: this.index}, this.known);
  }

  /**
   * Captures all files that git does not ignore.
   * @throws MiniCcError `TOO_LARGE` beyond the limits, `GIT_FAILED` with the reason of git
   */
  async capture({without, with: others = [], signal}: CaptureOptions = {}): Promise<Capture> {
    const {top, root = top, limits, submodules} = this.place;
    const more = others.map((name) => Buffer.from(name));
    const listed = [...(await this.#list(root, signal)), ...more];
    const {added, modes, removed, leftOut} = await chooseFiles(listed, {top, limits, submodules, without});
    const touched = [...removed, ...added];
    const {tree, refused} = await this.#change({added, removed}, signal);
    this.#lastTree =
      tree ?? (this.#lastTree === undefined || touched.length > 0 ? await this.#writeTree() : this.#lastTree);
    return {
      tree: this.#lastTree,
      leftOut: [...leftOut, ...refused],
      touched: new Map(touched.map((name) => [name.toString(), modes.get(name.toString())])),
    };
  }

  /** Lists files that git ignores. A folder that is ignored as a whole ends with a slash. */
  async listIgnored(): Promise<string[]> {
    const which = ['--others', '--ignored', '--exclude-standard', '--directory', '--no-empty-directory'];
    return splitNames(await this.#git(['ls-files', '-z', ...which])).map(String);
  }

  async diff(from: string, to: string): Promise<readonly TreeDiff[]> {
    if (from === to) return [];
    if (this.#lastDiff?.from === from && this.#lastDiff.to === to) return this.#lastDiff.found;
    return parseDiff(splitNames(await this.#git(['diff-tree', '-r', '-z', '--raw', '--no-renames', from, to])));
  }

  /** Returns the contents by id, all in memory. Missing contents are left out. */
  async contents(ids: readonly string[]): Promise<Map<string, Buffer>> {
    const found = new Map<string, Buffer>();
    if (ids.length === 0) return found;
    const answer = await this.#git(['cat-file', '--batch'], {input: `${ids.join('\n')}\n`});
    for (let at = 0; at < answer.length; ) {
      const end = answer.indexOf(0x0a, at);
      const [id = '', type, size = ''] = answer.toString('latin1', at, end).split(' ');
      at = end + 1;
      if (type === 'missing') continue;
      const content = answer.subarray(at, at + Number(size));
      at += Number(size) + 1;
      // Borrowed objects belong to the project, where the content of an object may not match its id.
      if (blobId(content, id.length === SHA256_CHARS ? 'sha256' : 'sha1') === id) found.set(id, content);
    }
    return found;
  }

  /** Returns the ids of the regular files of a tree that have one of these names. */
  async listFiles(tree: string, names: ReadonlySet<string>): Promise<Map<string, string>> {
    const entries = splitNames(await this.#git(['ls-tree', '-r', '-z', '--full-tree', tree]));
    const found = entries.flatMap((entry) => {
      const [, id, name] = /^100\d+ blob (\w+)\t(.*)$/s.exec(entry.toString()) ?? [];
      return id !== undefined && name !== undefined && names.has(name) ? [[name, id] as const] : [];
    });
    return new Map(found);
  }

  /** Copies borrowed contents, since the project's git may delete its own. */
  async keep(ids: readonly string[]): Promise<void> {
    const isOwned = (id: string) =>
      this.#owned.has(id) || existsSync(path.join(this.gitDir, 'objects', id.slice(0, 2), id.slice(2)));
    const borrowed = [...new Set(ids)].filter((id) => !isOwned(id));
    if (borrowed.length === 0) return;
    await this.#pack(borrowed).catch(async (error) => {
      // Git packs nothing when one object is missing.
      const answer = await this.#git(['cat-file', '--batch-check'], {input: `${borrowed.join('\n')}\n`});
      const present = [...parseSizes(answer).keys()];
      if (present.length === borrowed.length) throw error;
      if (present.length > 0) await this.#pack(present);
    });
  }

  /** Counts the files of a tree, and their bytes. */
  async measure(tree: string): Promise<{readonly files: number; readonly bytes: number}> {
    const listed = splitNames(await this.#git(['ls-tree', '-r', '-l', '-z', tree]));
    const sizes = listed.map((entry) => Number(/^\d+ \w+ \w+ +(\d+)\t/.exec(entry.toString('latin1'))?.[1] ?? 0));
    return {files: listed.length, bytes: sizes.reduce((sum, size) => sum + size, 0)};
  }

  /** Applies a patch, which may be empty, to the tree `from` or to the empty tree. @returns the new tree */
  patched(from: string | undefined, patch: Buffer): Promise<string> {
    return this.#withScratch(async (_, env) => {
      await this.#git(['read-tree', from ?? '--empty'], {env});
      const options = {env, input: patch, isForeign: true};
      if (patch.length > 0) await this.#git(['apply', '--cached', '--whitespace=nowarn', '-'], options);
      return this.#writeTree(env);
    });
  }

  /** Applies changes to the tree `from`. @returns the new tree */
  changed(from: string, changes: readonly TreeDiff[]): Promise<string> {
    return this.#withScratch(async (_, env) => {
      await this.#git(['read-tree', from], {env});
      // Remove paths first, because a file may replace a folder.
      const sorted = changes.toSorted((a, b) => Number(b.newMode === ABSENT) - Number(a.newMode === ABSENT));
      await this.#update(
        sorted.map(({name, newMode, newId}) => ({name, mode: newMode, id: newId})),
        env,
      );
      return this.#writeTree(env);
    });
  }

  /** Writes a patch that leads from one tree, or none, to another. */
  async writePatch(from: string | undefined, to: string, file: string): Promise<void> {
    const format = ['-p', '--binary', '--full-index', '--no-renames', '--no-color'];
    const start = from ?? (await this.#git(['mktree'])).toString().trim();
    // With an index, git may read files of the folder instead of the contents of the trees.
    const env = {GIT_INDEX_FILE: path.join(this.gitDir, 'none')};
    await this.#git(['diff-tree', ...format, `--output=${file}`, start, to], {env});
  }

  readPatch(from: string | undefined, to: string): Promise<Buffer> {
    return this.#withScratch(async (scratch) => {
      const file = path.join(scratch, 'patch');
      await this.writePatch(from, to, file);
      return readFile(file);
    });
  }

  /** Returns the changes for a reader: with renames, and without the contents of binary files. */
  async readChanges(from: string | undefined, to: string): Promise<string> {
    const start = from ?? (await this.#git(['mktree'])).toString().trim();
    const format = ['-r', '-p', '-M', '--no-color', '--src-prefix=a/', '--dst-prefix=b/'];
    const env = {GIT_INDEX_FILE: path.join(this.gitDir, 'none')};
    const settings = [['core.quotePath', 'false']] as const;
    return (await this.#git(['diff-tree', ...format, start, to], {env, settings})).toString();
  }

  /** Returns a commit with its history as a git bundle. */
  readBundle(commit: string): Promise<Buffer> {
    return this.#withScratch(async (scratch) => {
      const [file, ref] = [path.join(scratch, 'bundle'), `refs/bases/${commit}`];
      // A bundle contains refs, not commits.
      await this.#git(['update-ref', ref, commit]);
      await this.#git(['bundle', 'create', '--quiet', file, ref]);
      return readFile(file);
    });
  }

  /** Stores a content. @returns its id */
  async store(content: Buffer): Promise<string> {
    return (await this.#git(['hash-object', '-w', '--stdin'], {input: content})).toString().trim();
  }

  /** Writes all files of the index into the folder. When a tree is given, it is read into the index first. */
  async checkOut({
    tree,
    signal,
  }: {
    readonly tree?: string;
    readonly signal?: AbortSignal | undefined;
  } = {}): Promise<void> {
    if (tree !== undefined) await this.#git(['read-tree', tree], {signal});
    await this.#git(['checkout-index', '--all', '--force', '-u'], {signal, settings: IN_PARALLEL});
  }

  /** Begins with the project's index, so that unchanged files need not be read. */
  async #beginWith(
    project: Repository,
    without: readonly string[],
    known: KnownSettings,
    signal?: AbortSignal,
  ): Promise<void> {
    const {top, root = top, submodules, limitMs} = this.place;
    const isWhole = root === top && without.length === 0;
    const isTaken = ({name, mode}: IndexEntry) => {
      if (mode === SUBMODULE && !submodules) return false;
      const file = isWhole ? root : path.join(top, name.toString());
      return isInside(file, [root]) && !isInside(file, without);
    };
    // The index gets its name when it is complete, so that a killed mini-cc leaves none that wrongly lists files as
    // unchanged.
    const draft = `${this.index}${DRAFT}`;
    const env = {GIT_INDEX_FILE: draft};
    const remove = () => Promise.all([draft, `${draft}.lock`].map((file) => rm(file, {force: true})));
    const write = async (index: string, skipped: 'known' | 'removed') => {
      const listed = {top: project.top, index, within: path.relative(top, root)};
      for await (const entries of readProjectIndex(listed, isTaken, {known, signal, limitMs})) {
        await this.#update(
          entries.filter(({how}) => how !== skipped),
          env,
        );
      }
      await this.#refresh(env, signal);
      await rename(draft, this.index);
    };
    try {
      await remove();
      if (await copyIndex(project.index, draft)) {
        // The shell starts while git reads the copy.
        inBackground(
          setImmediate().then(() => this.#getShell()?.start()),
          neverRejects,
        );
        await write(draft, 'known');
      }
    } catch {
      signal?.throwIfAborted();
      // Some indexes, for example one that is split in two files, cannot be used elsewhere.
      await remove();
      await write(project.index, 'removed').catch(remove);
      signal?.throwIfAborted();
    }
  }

  /**
   * Notes in the draft of the index which files have not changed, so that lists need not read them.
   * @throws MiniCcError `GIT_FAILED` when the git directory cannot use it
   */
  async #refresh(env: GitOptions['env'], signal?: AbortSignal): Promise<void> {
    const {limitMs} = this.place;
    if ((await this.#getShell()?.refresh({signal, limitMs})) === true) return;
    // Exit code 1 means that files differ, which is no error here.
    await this.#run(['update-index', '-q', '--refresh'], {env, signal}, undefined, [0, 1]);
  }

  /** Returns the shell of a place that is captured often. */
  #getShell(): CaptureShell | undefined {
    const {top, root = top, isCapturedOften} = this.place;
    if (!isCapturedOften) return undefined;
    this.#shell ??= new CaptureShell(root, LIST_DIFFERING, {env: this.#getEnvironment(root), known: this.known});
    return this.#shell;
  }

  async #list(root: string, signal?: AbortSignal): Promise<Buffer[]> {
    return (await this.#getShell()?.list(signal)) ?? splitNames(await this.#git(LIST_DIFFERING, {signal}, root));
  }

  /** @returns the tree, unless it has to be written still; the files that git refused, and those that cannot be read */
  async #change({added, removed}: FilesToRecord, signal?: AbortSignal): Promise<Changed> {
    if (added.length + removed.length === 0) return {tree: undefined, refused: []};
    const {top, root = top} = this.place;
    const {tree, diff, isRefused, isWhole} = await this.#record({added, removed}, signal);
    const {isCorrect, unreadable} = await this.#correct(added, await this.#findEntries(added, diff), isWhole);
    if (isCorrect && this.#lastTree !== undefined) this.#lastDiff = {from: this.#lastTree, to: tree, found: diff};
    const wanted = new Set(added.map((name) => name.toString('latin1')));
    const left = isRefused ? await this.#list(root, signal) : [];
    const refused = left
      .filter((name) => wanted.has(name.toString('latin1')))
      .map((name) => ({name: name.toString(), why: 'git refuses its name'}) as const);
    return {tree: isCorrect ? tree : undefined, refused: [...unreadable, ...refused]};
  }

  /** Changes the index by `RECORD`. */
  async #record({added, removed}: FilesToRecord, signal?: AbortSignal): Promise<Recorded> {
    await this.#write(NAMES, Buffer.concat(added.flatMap((name) => [name, NUL])));
    await this.#write(ENTRIES, formatEntries(removed.map((name) => ({name, ...REMOVED}))));
    const last = this.#lastTree ?? '';
    const isFew = added.length < MIN_PACKED;
    const recorded = isFew ? await this.#getShell()?.record(last) : undefined;
    if (recorded) return parseRecorded(recorded, true);
    if (isFew && this.#getShell()) await rm(`${this.index}.lock`, {force: true});
    const options = {signal, settings: isFew ? [] : INTO_A_PACK, script: `${RECORD}\nrecord "$2"`};
    // Git stops at a name that means something else by now.
    const {exitCode, stdout} = await this.#run(['update-index', last], options, undefined, [0, 128]);
    return parseRecorded(splitNames(stdout), exitCode === 0);
  }

  /** Returns the entries that the files have in the index, by name in Latin-1. @param diff what has just changed in it */
  async #findEntries(names: readonly Buffer[], diff: readonly TreeDiff[]): Promise<Entries> {
    const found = new Map(diff.map(({name, newMode, newId}) => [name.toString('latin1'), {mode: newMode, id: newId}]));
    const unchanged = names.filter((name) => !found.has(name.toString('latin1')));
    if (unchanged.length === 0) return found;
    const isFew = unchanged.length < MIN_PACKED && unchanged.every((name) => Buffer.from(name.toString()).equals(name));
    const args = ['ls-files', '-z', '--stage', '--full-name', '--', ...(isFew ? unchanged.map(String) : [])];
    for (const line of splitNames(await this.#git(args, {env: {GIT_LITERAL_PATHSPECS: '1'}}))) {
      const at = line.indexOf('\t');
      const [mode = '', id = ''] = line.toString('latin1', 0, at).split(' ');
      found.set(line.toString('latin1', at + 1), {mode, id});
    }
    return found;
  }

  /**
   * Compares what git added with the files, and corrects it. Git opens files by path, so it may have read something else
   * through a link that was put there meanwhile.
   * @param stored the entries of the index
   * @param isWhole false when git stopped before it added all
   * @returns whether nothing was corrected, and files that cannot be read; the tree does not contain them
   */
  async #correct(
    names: readonly Buffer[],
    stored: Entries,
    isWhole: boolean,
  ): Promise<{readonly isCorrect: boolean; readonly unreadable: readonly LeftOutFile[]}> {
    const corrected: IndexEntry[] = [];
    const unreadable: LeftOutFile[] = [];
    for (const [index, name] of names.entries()) {
      if (index % FILES_AT_ONCE === 0) await setImmediate();
      const entry = stored.get(name.toString('latin1'));
      // Git stores the commit of a submodule, and leaves out a file that it refuses or that is gone.
      if (entry?.mode === SUBMODULE || (isWhole && (entry?.mode ?? ABSENT) === ABSENT)) continue;
      const file = Buffer.concat([Buffer.from(`${this.place.top}${path.sep}`), name]);
      const format = entry?.id.length === SHA256_CHARS ? 'sha256' : 'sha1';
      try {
        const {mode, id} = readEntrySync(file, format);
        if (id !== entry?.id) corrected.push({name, mode, id: await this.store(readContentSync(file))});
      } catch (error) {
        corrected.push({name, ...REMOVED});
        if (getErrorCode(error) !== 'ENOENT') unreadable.push({name: name.toString(), why: 'it cannot be read'});
      }
    }
    await this.#update(corrected);
    return {isCorrect: corrected.length === 0, unreadable};
  }

  async #update(entries: readonly IndexEntry[], env?: GitOptions['env']): Promise<void> {
    if (entries.length === 0) return;
    await this.#git(['update-index', '-z', '--index-info'], {input: formatEntries(entries), env});
  }

  /** @param env names an index; without it, the tree of the captures' index is written */
  async #writeTree(env?: GitOptions['env']): Promise<string> {
    const written = env ? undefined : await this.#getShell()?.tree();
    return written ?? (await this.#git(['write-tree', '--missing-ok'], {env})).toString().trim();
  }

  async #pack(ids: readonly string[]): Promise<void> {
    const pack = path.join(this.gitDir, 'objects', 'pack', 'pack');
    const input = `${ids.join('\n')}\n`;
    await this.#write(IDS, input);
    if (!(await this.#getShell()?.keep())) await this.#git(['pack-objects', '-q', '--window=0', pack], {input});
    for (const id of ids) this.#owned.add(id);
  }

  /** Writes a file of the git directory. */
  async #write(name: string, text: string | Buffer): Promise<void> {
    await writeFile(path.join(this.gitDir, name), text, {mode: 0o600});
  }

  /** @param work receives a folder that is removed afterwards, and variables that name an index in it */
  async #withScratch<T>(work: (scratch: string, env: GitOptions['env']) => Promise<T>): Promise<T> {
    const scratch = await mkdtemp(path.join(this.gitDir, 'scratch-'));
    try {
      return await work(scratch, {GIT_INDEX_FILE: path.join(scratch, 'index')});
    } finally {
      await rm(scratch, {recursive: true, force: true});
    }
  }

  async #git(args: readonly string[], options?: GitOptions, cwd?: string): Promise<Buffer> {
    return (await this.#run(args, options, cwd)).stdout;
  }

  /** @param cwd a folder of the place, or another one whose files are to be used */
  #run(args: readonly string[], options: GitOptions = {}, cwd = this.place.top, fine?: readonly number[]) {
    const {limitMs} = this.place;
    const env = {...this.#getEnvironment(cwd), ...options.env};
    return gitOrThrow(cwd, args, {limitMs, ...options, env, known: this.known}, fine);
  }

  #getEnvironment(cwd: string) {
    const {top, root} = this.place;
    return {GIT_DIR: this.gitDir, GIT_WORK_TREE: cwd === root ? top : cwd, GIT_INDEX_FILE: this.index};
  }
}

interface FilesToRecord {
  readonly added: readonly Buffer[];
  readonly removed: readonly Buffer[];
}

interface Changed {
  readonly tree: string | undefined;
  readonly refused: readonly LeftOutFile[];
}

type Entries = ReadonlyMap<string, {readonly mode: string; readonly id: string}>;
