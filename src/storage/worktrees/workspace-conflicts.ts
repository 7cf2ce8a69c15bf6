/** Whether the workspace still has what a worktree began with, and whether a change may be made there at all. */
import {createHash} from 'node:crypto';
import {lstat, readFile, readlink} from 'node:fs/promises';
import path from 'node:path';
import {orAbsent} from '../../core/util/file-errors.ts';
import {ABSENT, type Change} from './snapshots.ts';

const LINK = '120000';
const EXECUTABLE = '100755';
/** The bit of the owner: the only one that git knows. */
const OWNER_RUNS = 0o100;

/** How the workspace differs from what the worktree began with. Paths are those of the changes. */
export interface ChangedMeanwhile {
  /** Made, removed, or turned into something else: no change of the run's can be made there. */
  readonly replaced: readonly string[];
  /** Still a file that the run has changed too: what both did may fit together. */
  readonly edited: readonly string[];
}

/** Compared by content, not by time: what was written and put back is no change. */
export class WorkspaceFiles {
  constructor(
    private readonly top: string,
    private readonly objectFormat: string,
  ) {}

  async changedMeanwhile(changes: readonly Change[]): Promise<ChangedMeanwhile> {
    const gone = new Set(changes.filter(({oldMode}) => oldMode !== ABSENT).map((change) => change.path));
    const found = {replaced: [] as string[], edited: [] as string[]};
    for (const change of changes) {
      const how = await this.#howChanged(change, gone);
      if (how) found[how].push(change.path);
    }
    return found;
  }

  async #howChanged(change: Change, gone: ReadonlySet<string>): Promise<keyof ChangedMeanwhile | undefined> {
    if (await this.#liesBehindLink(change.path, gone)) return 'replaced';
    const file = path.join(this.top, change.path);
    const stat = await lstat(file).catch(orAbsent);
    if (change.oldMode === ABSENT) return stat === undefined || stat.isDirectory() ? undefined : 'replaced';
    if (stat === undefined) return 'replaced';
    if (change.oldMode === LINK) {
      const isSame = stat.isSymbolicLink() && this.#id(await readlink(file, 'buffer')) === change.oldId;
      return isSame ? undefined : 'replaced';
    }
    if (!stat.isFile()) return 'replaced';
    const isSameMode = ((stat.mode & OWNER_RUNS) !== 0) === (change.oldMode === EXECUTABLE);
    if (isSameMode && this.#id(await readFile(file)) === change.oldId) return undefined;
    // Whether it is executable is no matter to one who changed only what is in it.
    if (!isSameMode && change.newMode !== change.oldMode) return 'replaced';
    return change.newMode === ABSENT || change.newMode === LINK ? 'replaced' : 'edited';
  }

  /** A write there would land somewhere else; unless that link is itself among what goes. */
  async #liesBehindLink(file: string, gone: ReadonlySet<string>): Promise<boolean> {
    const parts = file.split('/').slice(0, -1);
    for (let length = 1; length <= parts.length; length += 1) {
      const folder = parts.slice(0, length).join('/');
      const stat = await lstat(path.join(this.top, folder)).catch(orAbsent);
      if (stat === undefined) return false;
      if (stat.isSymbolicLink()) return !gone.has(folder);
    }
    return false;
  }

  /** The id that git gives to this content. */
  #id(content: Buffer): string {
    return createHash(this.objectFormat).update(`blob ${content.length}\0`).update(content).digest('hex');
  }
}
