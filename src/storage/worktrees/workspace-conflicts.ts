/** Compares the workspace with the start of a worktree: which changes of the run may conflict. */
import {createHash} from 'node:crypto';
import type {Stats} from 'node:fs';
import {lstat, readFile, readlink} from 'node:fs/promises';
import path from 'node:path';
import {ignoreMissing} from '../../core/util/errors.ts';
import type {TreeDiff} from '../trees/git.ts';
import {ABSENT} from '../trees/trees.ts';

const LINK = '120000';
const EXECUTABLE = '100755';
/** The owner's executable bit, the only one that git stores. */
const OWNER_EXECUTABLE = 0o100;

/** Paths of the run's changes that differ in the workspace from the start of the worktree. */
export interface ChangedMeanwhile {
  /** Created, removed, or replaced by another kind of file: the run's change cannot be applied. */
  readonly replaced: readonly string[];
  /** Files that both changed: the changes may fit together. */
  readonly edited: readonly string[];
  /** They are as the run left them already, e.g. since they were brought back before a crash. */
  readonly done: readonly string[];
}

/** Compares contents, not times: a file that was changed and restored is unchanged. */
export class WorkspaceConflicts {
  constructor(
    private readonly top: string,
    private readonly objectFormat: string,
  ) {}

  async changedMeanwhile(changes: readonly TreeDiff[]): Promise<ChangedMeanwhile> {
    const existing = new Set(changes.filter(({oldMode}) => oldMode !== ABSENT).map((change) => change.path));
    const found = {replaced: [] as string[], edited: [] as string[], done: [] as string[]};
    for (const change of changes) {
      const how = await this.#compare(change, existing);
      if (how) found[how].push(change.path);
    }
    return found;
  }

  async #compare(change: TreeDiff, existing: ReadonlySet<string>): Promise<keyof ChangedMeanwhile | undefined> {
    if (await this.#isBehindLink(change.path, existing)) return 'replaced';
    const file = path.join(this.top, change.path);
    const stat = await lstat(file).catch(ignoreMissing);
    if (await this.#isDone(change, file, stat)) return 'done';
    if (change.oldMode === ABSENT) return stat === undefined || stat.isDirectory() ? undefined : 'replaced';
    if (stat === undefined) return 'replaced';
    if (change.oldMode === LINK) {
      const isSame = stat.isSymbolicLink() && this.#id(await readlink(file, 'buffer')) === change.oldId;
      return isSame ? undefined : 'replaced';
    }
    if (!stat.isFile()) return 'replaced';
    const isSameMode = ((stat.mode & OWNER_EXECUTABLE) !== 0) === (change.oldMode === EXECUTABLE);
    if (isSameMode && this.#id(await readFile(file)) === change.oldId) return undefined;
    // When the run changed only the content, a changed executable bit does not matter.
    if (!isSameMode && change.newMode !== change.oldMode) return 'replaced';
    return change.newMode === ABSENT || change.newMode === LINK ? 'replaced' : 'edited';
  }

  async #isDone({newMode, newId}: TreeDiff, file: string, stat: Stats | undefined): Promise<boolean> {
    if (stat === undefined || newMode === ABSENT) return stat === undefined && newMode === ABSENT;
    if (newMode === LINK) return stat.isSymbolicLink() && this.#id(await readlink(file, 'buffer')) === newId;
    if (!stat.isFile() || ((stat.mode & OWNER_EXECUTABLE) !== 0) !== (newMode === EXECUTABLE)) return false;
    return this.#id(await readFile(file)) === newId;
  }

  /** Whether a folder above the file is a link that leads a write elsewhere, and that the run did not replace. */
  async #isBehindLink(file: string, existing: ReadonlySet<string>): Promise<boolean> {
    const parts = file.split('/').slice(0, -1);
    for (let length = 1; length <= parts.length; length += 1) {
      const folder = parts.slice(0, length).join('/');
      const stat = await lstat(path.join(this.top, folder)).catch(ignoreMissing);
      if (stat === undefined) return false;
      if (stat.isSymbolicLink()) return !existing.has(folder);
    }
    return false;
  }

  /** The blob id of git for this content. */
  #id(content: Buffer): string {
    return createHash(this.objectFormat).update(`blob ${content.length}\0`).update(content).digest('hex');
  }
}
