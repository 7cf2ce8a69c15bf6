/**
 * What a folder holds, kept by a git directory outside of it: two of these say what was changed between, whatever
 * became of the folder's own `.git` meanwhile. Bytes count: no setting or attribute converts them.
 */
import {mkdir, rename, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {git} from '../git.ts';
import {gitOrThrow, makeBorrowing, type Repository} from './repository.ts';

const AS_THEY_ARE = '* -text !eol -crlf -ident -filter !working-tree-encoding !diff\n';
export const ABSENT = '000000';

/** One path that differs. Modes as git writes them, `000000` where there is nothing. */
export interface Change {
  readonly path: string;
  readonly oldMode: string;
  readonly newMode: string;
  readonly oldId: string;
  readonly newId: string;
}

export class Snapshots {
  /** @param gitDir as `make` left it. @param folder absolute, links resolved. */
  constructor(
    private readonly gitDir: string,
    private readonly folder: string,
  ) {}

  static async make(gitDir: string, folder: string, from: Repository, signal: AbortSignal): Promise<Snapshots> {
    await makeBorrowing(gitDir, from, {bare: true, signal});
    await writeFile(path.join(gitDir, 'info', 'attributes'), AS_THEY_ARE);
    return new Snapshots(gitDir, folder);
  }

  /** The files as git's index knows them: with their sizes and times, so that a copy of it need not read them again. */
  get index(): string {
    return path.join(this.gitDir, 'index');
  }

  /** What is there now, without what git ignores. @returns the id of a tree. */
  async take(signal?: AbortSignal): Promise<string> {
    const options = signal ? {signal} : {};
    await this.#git(this.folder, ['add', '--all', '.'], options);
    return this.#writeTree();
  }

  /** What git ignores there and no snapshot holds; a folder of which that is true as a whole ends with a slash. */
  async ignored(): Promise<string[]> {
    const which = ['--others', '--ignored', '--exclude-standard', '--directory', '--no-empty-directory'];
    return (await this.#git(this.folder, ['ls-files', '-z', ...which])).toString().split('\0').filter(Boolean);
  }

  /** These files are in the next snapshots, ignored or not. */
  async takeAlso(names: readonly string[]): Promise<void> {
    await this.#git(this.folder, ['update-index', '-z', '--add', '--stdin'], {input: names.join('\0')});
  }

  /**
   * A repository within has its `.git` moved to `to`, so that its files are files like all others.
   * @returns the folders that had one, relative.
   */
  async unnest(to: string): Promise<string[]> {
    const args = ['ls-files', '-z', '--others', '--exclude-standard'];
    const names = (await this.#git(this.folder, args)).toString().split('\0');
    const nested = names.filter((name) => name.endsWith('/'));
    for (const name of nested) {
      await mkdir(path.join(to, name), {recursive: true, mode: 0o700});
      await rename(path.join(this.folder, name, '.git'), path.join(to, name, '.git'));
    }
    // There may be more in what can be seen now.
    return nested.length === 0 ? [] : [...nested, ...(await this.unnest(to))];
  }

  async changes(from: string, to: string): Promise<readonly Change[]> {
    const raw = await this.#git(this.folder, ['diff-tree', '-r', '-z', '--raw', '--no-renames', from, to]);
    const parts = raw.toString().split('\0');
    const found: Change[] = [];
    for (let at = 0; at + 1 < parts.length; at += 2) {
      const [oldMode = '', newMode = '', oldId = '', newId = ''] = parts[at]!.slice(1).split(' ');
      found.push({path: parts[at + 1]!, oldMode, newMode, oldId, newId});
    }
    return found;
  }

  /** The tree `from` with only these changes made. Leaves the index changed: for when nothing is taken any more. */
  async withOnly(from: string, changes: readonly Change[]): Promise<string> {
    await this.#git(this.folder, ['read-tree', from]);
    // What goes is taken out first: a file may take the place of a folder.
    const sorted = changes.toSorted((a, b) => Number(b.newMode === ABSENT) - Number(a.newMode === ABSENT));
    const input = sorted.map(({newMode, newId, path: file}) => `${newMode} ${newId}\t${file}\0`).join('');
    await this.#git(this.folder, ['update-index', '-z', '--index-info'], {input});
    return this.#writeTree();
  }

  async writePatch(from: string, to: string, file: string): Promise<void> {
    const format = ['-p', '--binary', '--full-index', '--no-renames', '--no-color'];
    await this.#git(this.folder, ['diff-tree', ...format, `--output=${file}`, from, to]);
  }

  /** Whether the patch fits what is in `target`: nothing is written. @returns what git says where it does not. */
  async unfit(patch: string, target: string): Promise<string | undefined> {
    const {exitCode, stderr} = await git(target, ['apply', '--check', patch], {env: this.#env(target)});
    return exitCode === 0 ? undefined : stderr.trim();
  }

  /** @throws MiniCcError when git fails, maybe half way: then `restore`. */
  async apply(patch: string, target: string): Promise<void> {
    await this.#git(target, ['apply', '--whitespace=nowarn', patch]);
  }

  /** Puts these files of `target` back as they are in the tree `from`; those that it does not hold must be gone. */
  async restore(from: string, paths: readonly string[], target: string): Promise<void> {
    await this.#git(target, ['read-tree', from]);
    await this.#git(target, ['checkout-index', '--force', '-z', '--stdin'], {input: paths.join('\0')});
  }

  async #writeTree(): Promise<string> {
    return (await this.#git(this.folder, ['write-tree'])).toString().trim();
  }

  #git(folder: string, args: readonly string[], options = {}): Promise<Buffer> {
    return gitOrThrow(folder, args, {...options, env: this.#env(folder)});
  }

  #env(folder: string) {
    return {GIT_DIR: this.gitDir, GIT_WORK_TREE: folder};
  }
}
