/** Whether the workspace still has what a worktree began with, and whether a change may be made there at all. */
import {createHash} from 'node:crypto';
import {lstat, readFile, readlink} from 'node:fs/promises';
import path from 'node:path';
import {orAbsent} from './repository.ts';
import {ABSENT, type Change} from './snapshots.ts';

const LINK = '120000';
const EXECUTABLE = '100755';
/** The bit of the owner: the only one that git knows. */
const OWNER_RUNS = 0o100;

/** Compared by content, not by time: what was written and put back is no change. */
export class WorkspaceFiles {
  constructor(
    private readonly top: string,
    private readonly objectFormat: string,
  ) {}

  /** Those whose place in the workspace is no longer as it was when the worktree was made. */
  async changedMeanwhile(changes: readonly Change[]): Promise<string[]> {
    const replaced = new Set(changes.filter(({oldMode}) => oldMode !== ABSENT).map((change) => change.path));
    const changed: string[] = [];
    for (const change of changes) if (!(await this.#isAsBefore(change, replaced))) changed.push(change.path);
    return changed;
  }

  async #isAsBefore(change: Change, replaced: ReadonlySet<string>): Promise<boolean> {
    if (await this.#liesBehindLink(change.path, replaced)) return false;
    const file = path.join(this.top, change.path);
    const stat = await lstat(file).catch(orAbsent);
    if (change.oldMode === ABSENT) return stat === undefined || stat.isDirectory();
    if (stat === undefined) return false;
    if (change.oldMode === LINK)
      return stat.isSymbolicLink() && this.#id(await readlink(file, 'buffer')) === change.oldId;
    if (!stat.isFile() || ((stat.mode & OWNER_RUNS) !== 0) !== (change.oldMode === EXECUTABLE)) return false;
    return this.#id(await readFile(file)) === change.oldId;
  }

  /** A write there would land somewhere else; unless that link is itself among what goes. */
  async #liesBehindLink(file: string, replaced: ReadonlySet<string>): Promise<boolean> {
    const parts = file.split('/').slice(0, -1);
    for (let length = 1; length <= parts.length; length += 1) {
      const folder = parts.slice(0, length).join('/');
      const stat = await lstat(path.join(this.top, folder)).catch(orAbsent);
      if (stat === undefined) return false;
      if (stat.isSymbolicLink()) return !replaced.has(folder);
    }
    return false;
  }

  /** The id that git gives to this content. */
  #id(content: Buffer): string {
    return createHash(this.objectFormat).update(`blob ${content.length}\0`).update(content).digest('hex');
  }
}
