/**
 * Snapshots of a folder in a git directory outside of it. Comparing two of them shows the changes between them, also
 * when the folder's own `.git` was changed. They store the bytes of files: no setting or attribute converts them.
 */
import {mkdir, rename, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {git, type KnownSettings, parseTreeDiff, TREE_DIFF, type TreeDiff} from './git.ts';
import {formatIndex, type IndexEntry} from './git-index.ts';
import {
  createBorrowingRepository,
  gitOrThrow,
  LIMIT_MS,
  type Repository,
  type readCopiedSettings,
} from './repository.ts';

/** Attributes that turn off all conversions. */
export const NO_CONVERSION = '* -text !eol -crlf -ident -filter !working-tree-encoding !diff\n';
/** The mode of a path that does not exist. */
export const ABSENT = '000000';

export class TreeSnapshots {
  /** @param gitDir as `create` left it. @param folder absolute, links resolved */
  constructor(
    private readonly gitDir: string,
    private readonly folder: string,
    /** The path of the index. With a copy of it, git knows sizes and times of the files without reading them. */
    readonly index = path.join(gitDir, 'index'),
    /** Of the git directory: no other program changes its settings. */
    private readonly known: KnownSettings = {},
  ) {}

  static async create(
    gitDir: string,
    folder: string,
    from: Repository,
    settings: Awaited<ReturnType<typeof readCopiedSettings>>,
  ): Promise<TreeSnapshots> {
    await createBorrowingRepository(gitDir, from, {bare: true, settings});
    await writeFile(path.join(gitDir, 'info', 'attributes'), NO_CONVERSION);
    return new TreeSnapshots(gitDir, folder);
  }

  /**
   * Takes a snapshot of all files that git does not ignore.
   * @returns the id of its tree
   * @throws MiniCcError `WORKTREE` also when git cannot add one of the files
   */
  async take(signal?: AbortSignal): Promise<string> {
    await this.#git(this.folder, ['add', '--all', '.'], signal ? {signal} : {});
    return this.#writeTree();
  }

  /** The same, without what git cannot add. @param without relative paths. @returns also the names of files that git refused */
  async takeWhatFits(
    without: readonly string[] = [],
  ): Promise<{readonly tree: string; readonly refused: readonly string[]}> {
    const places = ['.', ...without.map((place) => `:(exclude,top,literal)${place}`)];
    const {exitCode} = await git(this.folder, ['add', '--all', '--ignore-errors', '--', ...places], {
      env: this.#env(this.folder),
      known: this.known,
      limitMs: LIMIT_MS,
    });
    if (exitCode === 0) return {tree: await this.#writeTree(), refused: []};
    const rest = ['ls-files', '-z', '--others', '--modified', '--deleted', '--exclude-standard'];
    const names = (await this.#git(this.folder, rest)).toString().split('\0').filter(Boolean);
    // Git failed for another reason: let it say so.
    if (names.length === 0 && without.length === 0) return {tree: await this.take(), refused: []};
    return {tree: await this.#writeTree(), refused: [...new Set(names)]};
  }

  /** Ignored files that no snapshot includes. A folder that is ignored as a whole ends with a slash. */
  async ignored(): Promise<string[]> {
    const which = ['--others', '--ignored', '--exclude-standard', '--directory', '--no-empty-directory'];
    return (await this.#git(this.folder, ['ls-files', '-z', ...which])).toString().split('\0').filter(Boolean);
  }

  /** Includes files in the next snapshots, also ignored ones. */
  async include(names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    await this.#git(this.folder, ['update-index', '-z', '--add', '--stdin'], {input: names.join('\0')});
  }

  /**
   * Moves the `.git` of nested repositories to `to`, so that snapshots include their files.
   * @returns the relative paths of these repositories
   */
  async unnest(to: string): Promise<string[]> {
    const args = ['ls-files', '-z', '--others', '--exclude-standard'];
    const names = (await this.#git(this.folder, args)).toString().split('\0');
    const nested = names.filter((name) => name.endsWith('/'));
    for (const name of nested) {
      await mkdir(path.join(to, name), {recursive: true, mode: 0o700});
      await rename(path.join(this.folder, name, '.git'), path.join(to, name, '.git'));
    }
    // Their folders may contain further repositories.
    return nested.length === 0 ? [] : [...nested, ...(await this.unnest(to))];
  }

  /** The tree `from`, or the empty one, with a patch. Reads no file beside it. */
  async withPatch(from: string | undefined, patch: string | undefined): Promise<string> {
    await this.#git(this.folder, ['read-tree', from ?? '--empty']);
    if (patch !== undefined) await this.#git(this.folder, ['apply', '--cached', '--whitespace=nowarn', patch]);
    return this.#writeTree();
  }

  /** What a patch changes in the tree `from`. Reads no file beside it, and leaves the result in the index. */
  async changesOf(from: string, patch: string): Promise<readonly TreeDiff[]> {
    await this.#git(this.folder, ['read-tree', from]);
    await this.#git(this.folder, ['apply', '--cached', '--whitespace=nowarn', patch]);
    const args = ['diff-index', '--cached', '-z', '--raw', '--no-abbrev', '--no-renames', from];
    return parseTreeDiff(await this.#git(this.folder, args));
  }

  /** Writes the files of the index into the folder. */
  async writeFiles(signal?: AbortSignal): Promise<void> {
    await this.#git(this.folder, ['checkout-index', '--all', '--force', '-u'], signal ? {signal} : {});
  }

  /** Begins with these files, and writes them as they are stored. @throws MiniCcError when it could not write all of them */
  async writeStored(entries: readonly IndexEntry[], signal: AbortSignal): Promise<void> {
    await writeFile(this.index, formatIndex(entries), {mode: 0o600});
    await this.writeFiles(signal);
  }

  async changes(from: string, to: string): Promise<readonly TreeDiff[]> {
    return parseTreeDiff(await this.#git(this.folder, [...TREE_DIFF, from, to]));
  }

  /** The tree `from` with only these changes. It changes the index, so take no snapshot afterwards. */
  async withOnly(from: string, changes: readonly TreeDiff[]): Promise<string> {
    await this.#git(this.folder, ['read-tree', from]);
    // Removals first: a file may replace a folder.
    const sorted = changes.toSorted((a, b) => Number(b.newMode === ABSENT) - Number(a.newMode === ABSENT));
    const lines = sorted.flatMap(({newMode, newId, name}) => [
      Buffer.from(`${newMode} ${newId}\t`),
      name,
      Buffer.alloc(1),
    ]);
    await this.#git(this.folder, ['update-index', '-z', '--index-info'], {input: Buffer.concat(lines)});
    return this.#writeTree();
  }

  async writePatch(from: string, to: string, file: string): Promise<void> {
    const format = ['-p', '--binary', '--full-index', '--no-renames', '--no-color'];
    await this.#git(this.folder, ['diff-tree', ...format, `--output=${file}`, from, to]);
  }

  /** Checks, without writing, whether a patch fits to `target`. @returns the error text of git when it does not */
  async checkPatch(patch: string, target: string): Promise<string | undefined> {
    const {exitCode, stderr} = await git(target, ['apply', '--check', patch], {
      env: this.#env(target),
      known: this.known,
    });
    return exitCode === 0 ? undefined : stderr.trim();
  }

  /** @throws MiniCcError when git fails, maybe half way: then call `restore` */
  async apply(patch: string, target: string): Promise<void> {
    await this.#git(target, ['apply', '--whitespace=nowarn', patch]);
  }

  /** Restores files of `target` from the tree `from`. Files that this tree lacks must be removed before. */
  async restore(from: string, paths: readonly string[], target: string): Promise<void> {
    await this.#git(target, ['read-tree', from]);
    await this.#git(target, ['checkout-index', '--force', '-z', '--stdin'], {input: paths.join('\0')});
  }

  writeEmptyTree(): Promise<string> {
    return this.#git(this.folder, ['mktree'], {input: ''}).then((id) => id.toString().trim());
  }

  async #writeTree(): Promise<string> {
    return (await this.#git(this.folder, ['write-tree'])).toString().trim();
  }

  #git(folder: string, args: readonly string[], options = {}): Promise<Buffer> {
    return gitOrThrow(folder, args, {...options, env: this.#env(folder), known: this.known});
  }

  #env(folder: string) {
    return {GIT_DIR: this.gitDir, GIT_WORK_TREE: folder, GIT_INDEX_FILE: this.index};
  }
}
