/** Compares the workspace with the start of a worktree, to find which changes of the run may conflict. */
import {lstat} from 'node:fs/promises';
import path from 'node:path';
import {ignoreMissing} from '../../core/util/errors.ts';
import {isSameState, readFileState, toFileState} from '../trees/file-state.ts';
import {ABSENT, type TreeDiff} from '../trees/trees.ts';
import type {Origin} from './worktree-folder.ts';

/** Paths of the run's changes that differ in the workspace from the start of the worktree. */
export interface ChangedMeanwhile {
  /** Paths that were created, removed, or replaced by another kind of file. The run's change cannot be applied. */
  readonly replaced: readonly string[];
  /** Files that both sides changed. The changes may fit together. */
  readonly edited: readonly string[];
  /** Files that are already as the run left them, e.g. because they were brought back before a crash. */
  readonly done: readonly string[];
}

/** Compares contents, not times: a file that was changed and restored is unchanged. */
export async function findChangedMeanwhile(origin: Origin, changes: readonly TreeDiff[]): Promise<ChangedMeanwhile> {
  const existing = new Set(changes.filter(({oldMode}) => oldMode !== ABSENT).map((change) => change.path));
  const found = {replaced: [] as string[], edited: [] as string[], done: [] as string[]};
  for (const change of changes) {
    const isBehindLink = await leadsThroughLink(origin.top, change.path, existing);
    const how = isBehindLink ? 'replaced' : await compare(origin, change);
    if (how) found[how].push(change.path);
  }
  return found;
}

async function compare(
  {top, objectFormat}: Origin,
  {path: name, oldMode, newMode, oldId, newId}: TreeDiff,
): Promise<keyof ChangedMeanwhile | undefined> {
  const {state: now} = await readFileState(path.join(top, name), objectFormat);
  const [before, after] = [toFileState(oldMode, oldId), toFileState(newMode, newId)];
  if (isSameState(now, after)) return 'done';
  if (isSameState(now, before)) return undefined;
  if (now?.kind !== 'file' || before?.kind !== 'file' || after?.kind !== 'file') return 'replaced';
  // When the run changed only the content, a changed executable bit does not matter.
  const isSameMode = Boolean(now.executable) === Boolean(before.executable);
  return !isSameMode && oldMode !== newMode ? 'replaced' : 'edited';
}

/** Whether a folder above the file is a link that leads a write elsewhere, and that the run did not replace. */
async function leadsThroughLink(top: string, file: string, existing: ReadonlySet<string>): Promise<boolean> {
  const parts = file.split('/').slice(0, -1);
  for (let length = 1; length <= parts.length; length += 1) {
    const folder = parts.slice(0, length).join('/');
    const stat = await lstat(path.join(top, folder)).catch(ignoreMissing);
    if (stat === undefined) return false;
    if (stat.isSymbolicLink()) return !existing.has(folder);
  }
  return false;
}
