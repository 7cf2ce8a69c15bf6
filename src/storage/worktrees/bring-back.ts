/**
 * Brings the changes of a worktree back into the workspace. They are applied all together when they fit, even into
 * files that others changed elsewhere meanwhile. Otherwise they are stored as a patch. Changes of protected files are
 * never applied and always stored as a patch.
 */
import {lstat, mkdir} from 'node:fs/promises';
import path from 'node:path';
import type {BroughtBack, WorktreeOwner} from '../../core/contract/worktree.ts';
import {getErrorCode, getErrorMessage, ignoreMissing} from '../../core/util/errors.ts';
import {removeEmptyFolder, withOpenFolder} from '../../core/util/files/open-folder.ts';
import {formatFileName, isInside} from '../../core/util/paths.ts';
import {quoteForShell} from '../../core/util/text.ts';
import {
  changeState,
  type FileState,
  isSameState,
  type ReadState,
  readFileState,
  type StateChange,
  sortChanges,
  toFileState,
} from '../trees/file-state.ts';
import {ABSENT, type TreeDiff} from '../trees/tree-diff.ts';
import type {Trees} from '../trees/trees.ts';
import {findRefusedFiles, moveFiles} from './refused-files.ts';
import {findUnusedPath, keepFile, type Origin} from './worktree-folder.ts';

interface KeepDeps {
  readonly origin: Origin;
  readonly trees: Trees;
  readonly keepIn: string;
}

/** What is the same for all runs of a session. */
export interface WorkspaceDeps {
  /** The session's workspace, with links resolved. */
  readonly root: string;
  /** Absolute paths of files and folders that confined commands must not see. */
  readonly hidden: () => readonly string[];
  /** Whether a file is never written without a question. Paths are relative to the top of the repository. */
  readonly isProtected: (file: string) => boolean;
  /** Wraps the writing into the workspace for a run, so that it can be undone. Files are absolute paths. */
  readonly writing: (owner: WorktreeOwner, files: readonly string[], work: () => Promise<void>) => Promise<unknown>;
}

interface DeliveryDeps extends KeepDeps {
  readonly workspace: WorkspaceDeps;
  /** The run whose changes these are. */
  readonly owner: WorktreeOwner;
}

/** Lists the hidden places. A checkout inside one of them is visible, as in the sandbox. @param top the checkout */
export function listHidden({hidden}: WorkspaceDeps, top: string): readonly string[] {
  return hidden().filter((place) => !isInside(top, [place]));
}

interface FoundChanges {
  readonly changes: readonly TreeDiff[];
  /** The tree after the changes. */
  readonly end: string;
  /** Lines for a person. */
  readonly notes: readonly string[];
}

const MAX_NAMED = 3;
/** Limit of Linux, including the final byte. The path in the workspace may be longer than in the worktree. */
const MAX_PATH_BYTES = 4095;
/** Limit in bytes for an ignored file that is stored after a crash. */
const MAX_IGNORED_BYTES = 10 * 1024 * 1024;

/**
 * Brings the changes back, or stores them.
 * @param top top folder of the worktree, whose files `deps.trees` captures
 * @param written absolute paths that the run's tools wrote
 * @throws Error when changes can neither be applied nor stored
 */
export async function bringBack(deps: DeliveryDeps, top: string, written: readonly string[]): Promise<BroughtBack> {
  const {taken, found} = await findAllChanges(deps, top, written);
  const existing = new Set<string>();
  for (const file of taken) if (await lstat(path.join(deps.origin.top, file)).catch(ignoreMissing)) existing.add(file);
  return deliver(deps, found, existing);
}

/**
 * Writes the changes of a tree as a patch into `file`, for another machine.
 * @returns the changed files, as paths in the workspace
 */
export async function exportChanges(
  deps: KeepDeps,
  top: string,
  written: readonly string[],
  file: string,
): Promise<BroughtBack> {
  const {changes, end, notes} = (await findAllChanges(deps, top, written)).found;
  await mkdir(path.dirname(file), {recursive: true, mode: 0o700});
  if (changes.length > 0) await deps.trees.writePatch(deps.origin.start, end, file);
  return {applied: changes.map(({path: name}) => path.join(deps.origin.top, name)), notes};
}

/** Finds all changes. Ignored files that the run's tools wrote are included, because the tools named them. */
async function findAllChanges(deps: KeepDeps, top: string, written: readonly string[]) {
  const names = new Set(written.map((file) => path.relative(top, file)));
  const {taken, left} = await takeIgnored(deps.trees, top, (ignored) =>
    [...names].filter((name) => ignored === name || (ignored.endsWith('/') && name.startsWith(ignored))),
  );
  const {notes, ...found} = await findChanges(deps, top, left);
  const ignored = left.length === 0 ? [] : [`Not brought back, since git ignores it: ${formatNames(left)}`];
  return {taken, found: {...found, notes: [...notes, ...ignored]}};
}

/** Stores all changes of a worktree whose run has ended. @returns lines that say where they are */
export async function keepAll(deps: KeepDeps, top: string, why: string): Promise<readonly string[]> {
  // The files that the tools wrote are not known. Capture single ignored files; ignored folders are mostly build
  // results and packages.
  const {left} = await takeIgnored(deps.trees, top, (ignored) => [ignored], MAX_IGNORED_BYTES);
  const {changes, end, notes} = await findChanges(deps, top, left);
  if (changes.length === 0) return notes;
  const notKept = left.length === 0 ? '' : ` Not kept, since git ignores it: ${formatNames(left)}.`;
  return [(await keepPatch(deps, end, why, `Nothing was applied.${notKept}`)).explanation, ...notes];
}

/** Applies changes to the workspace, or stores them. @param existing ignored files that the workspace has too */
export async function deliver(
  deps: DeliveryDeps,
  {changes, end, notes}: FoundChanges,
  existing: ReadonlySet<string> = new Set(),
): Promise<BroughtBack> {
  const {origin, trees} = deps;
  const hidden = listHidden(deps.workspace, origin.top);
  const getReason = (change: TreeDiff) => whyNotApplied(change, deps, {existing, hidden});
  const excluded = changes.filter((change) => getReason(change) !== undefined);
  const included = changes.filter((change) => !excluded.includes(change));
  const part = excluded.length === 0 ? end : await trees.changed(origin.start, included);
  const failure = included.length === 0 ? undefined : await apply(deps, included, part);
  if (failure !== undefined) {
    const explanation = `Nothing was applied: ${failure.explanation}.`;
    return {applied: [], notes, kept: await keepPatch(deps, end, failure.why, explanation)};
  }
  const applied = included.map(({path: file}) => path.join(origin.top, file));
  if (excluded.length === 0) return {applied, notes};
  const why = excluded.length === 1 ? getReason(excluded[0]!)! : `${excluded.length} files that need a person`;
  const explanation = `${excluded.map(getReason).join('; ')}: these changes were not applied.`;
  const rest = await trees.changed(origin.start, excluded);
  return {applied, notes, kept: await keepPatch(deps, rest, why, explanation)};
}

/** @param ignored paths that git ignores in the tree */
async function findChanges(
  {trees, origin, keepIn}: KeepDeps,
  top: string,
  ignored: readonly string[],
): Promise<FoundChanges> {
  const {nested, refused, special} = await findRefusedFiles(top, ignored);
  const repositories = await findUnusedPath(keepIn, 'repositories');
  const unnested = await moveFiles(top, nested, repositories);
  const leftOver = await findUnusedPath(keepIn, 'left-over');
  const first = await moveFiles(top, refused, leftOver);
  const {tree: end, leftOut} = await trees.capture();
  const names = leftOut.map(({name}) => name).filter((name) => !first.left.some((left) => isInside(name, [left])));
  const second = await moveFiles(top, names, leftOver);
  const moved = [...first.moved, ...second.moved];
  const left = [...special, ...first.left, ...second.left];
  const notes = unnested.moved.map((name) => {
    const folder = `${path.dirname(name)}/`;
    return `${folder} was a git repository of its own: its .git is in ${repositories}/${folder}`;
  });
  if (moved.length > 0) notes.push(`Not brought back, since git refuses it: ${formatNames(moved)}, now in ${leftOver}`);
  if (left.length > 0) notes.push(`Not brought back, since git cannot keep it: ${formatNames(left)}`);
  return {changes: await trees.diff(origin.start, end), end, notes};
}

/**
 * Returns why a change is not applied; undefined when it can be.
 * @param places `existing`: ignored files that the workspace has too. No worktree starts with them, so they cannot be
 * compared. `hidden`: from `listHidden`
 */
function whyNotApplied(
  {path: file, name: bytes}: TreeDiff,
  {origin, workspace}: DeliveryDeps,
  {existing, hidden}: {readonly existing: ReadonlySet<string>; readonly hidden: readonly string[]},
): string | undefined {
  const name = formatFileName(file);
  const place = path.join(origin.top, file);
  if (origin.prefix !== '' && !file.startsWith(`${origin.prefix}/`)) return `${name} is outside the workspace`;
  if (workspace.isProtected(file) || isInside(place, hidden)) return `${name} is protected`;
  if (!Buffer.from(file).equals(bytes)) return `the name ${name} is not in UTF-8`;
  if (Buffer.byteLength(place) > MAX_PATH_BYTES) return `the path of ${name} is too long`;
  return existing.has(file) ? `${name}, which git ignores, is in the workspace already` : undefined;
}

interface ApplyFailure {
  /** A few words for the receipt. */
  readonly why: string;
  readonly explanation: string;
}

/** Applies all changes or none. @param end the tree after them. @returns why it failed; undefined when it succeeded */
async function apply(deps: DeliveryDeps, changes: readonly TreeDiff[], end: string): Promise<ApplyFailure | undefined> {
  const {origin, trees, workspace, owner} = deps;
  let failure: ApplyFailure | undefined;
  try {
    // The check runs inside `writing`, which may wait until others have ended their writes.
    await workspace.writing(
      owner,
      changes.map(({path: file}) => path.join(origin.top, file)),
      async () => {
        const meanwhile = await findChangedMeanwhile(deps, changes);
        const left = changes.filter(({path: file}) => !meanwhile.done.includes(file));
        if (left.length === 0) return;
        const part = left.length === changes.length ? end : await trees.changed(origin.start, left);
        const found = await findResult(deps, meanwhile, part);
        failure = 'why' in found ? found : await write(deps, await trees.diff(found.from, found.to));
      },
    );
    return failure;
  } catch (error) {
    return createFailure(getErrorMessage(error));
  }
}

/**
 * Finds the tree that the workspace becomes. Changes of both sides at different places of a file fit together; those of
 * the same or adjacent lines are a conflict.
 * @param end the tree after the changes
 */
async function findResult(
  {origin, trees}: DeliveryDeps,
  {replaced, edited}: ChangedMeanwhile,
  end: string,
): Promise<{readonly from: string; readonly to: string} | ApplyFailure> {
  const names = edited.map(({path: file}) => file);
  if (replaced.length > 0) return createConflict([...replaced, ...names]);
  // Files that are unchanged since the start fit.
  if (edited.length === 0) return {from: origin.start, to: end};
  const from = await trees.changed(origin.start, edited);
  try {
    return {from, to: await trees.patched(from, await trees.readPatch(origin.start, end))};
  } catch (error) {
    // Git quotes unusual names. When none is found in its message, all edited files are named.
    const mentioned = names.filter((file) => getErrorMessage(error).includes(file));
    return createConflict(mentioned.length > 0 ? mentioned : names);
  }
}

function createConflict(files: readonly string[]): ApplyFailure {
  return {
    why: `conflict in ${formatNames(files)}`,
    explanation: `${formatNames(files)} changed in the workspace since this run began`,
  };
}

/** Number of files whose contents are in memory together. */
const BATCH = 20;

function toStates({oldMode, newMode, oldId, newId}: TreeDiff) {
  return {from: toFileState(oldMode, oldId), to: toFileState(newMode, newId)};
}

interface WrittenChange extends Pick<TreeDiff, 'path' | 'oldId'> {
  /** The state that the change left. */
  readonly to: FileState;
  readonly before: FileState;
}

/**
 * Writes changes into the workspace: all, or none after an error. Each file is reached by the descriptor of its folder,
 * so that no link is followed, and must be as it was compared.
 */
async function write(deps: DeliveryDeps, changes: readonly TreeDiff[]): Promise<ApplyFailure | undefined> {
  const sorted = sortChanges(changes.map((change) => ({...change, ...toStates(change)})));
  const written: WrittenChange[] = [];
  try {
    for (let at = 0; at < sorted.length; at += BATCH) {
      const batch = sorted.slice(at, at + BATCH);
      const contents = await deps.trees.contents(batch.map(({newId}) => newId));
      for (const change of batch) {
        const before = await putFile(deps.origin, change.path, {...change, contents});
        written.push({...change, before});
      }
    }
    return undefined;
  } catch (error) {
    return createFailure(`${getErrorMessage(error)}${await rollBack(deps, written.toReversed())}`);
  }
}

/** @returns the state before @throws as `changeState`, with the name of the file */
async function putFile({top, objectFormat}: Origin, name: string, change: StateChange): Promise<FileState> {
  const file = path.join(top, name);
  const {from, to} = change;
  // A nested repository has no content here. Its folder exists, as after `git apply`.
  if (to?.kind === 'other') return withOpenFolder(file, async () => from, {create: true});
  const before = await changeState(file, {...change, format: objectFormat}).catch((error: unknown) => {
    throw new Error(`${formatFileName(name)}: ${getErrorMessage(error)}`, {cause: error});
  });
  for (let folder = path.dirname(file); to === null && folder !== top; folder = path.dirname(folder)) {
    if (!(await removeEmptyFolder(folder))) break;
  }
  return before;
}

function createFailure(explanation: string): ApplyFailure {
  return {why: 'applying them failed', explanation};
}

/**
 * Restores the files after a failure half way, e.g. on a full disk.
 * @param written the last one first
 * @returns text to add to the explanation when the rollback fails too
 */
async function rollBack({origin, trees}: DeliveryDeps, written: readonly WrittenChange[]): Promise<string> {
  try {
    for (const {path: file, oldId, to, before} of written) {
      await putFile(origin, file, {from: to, to: before, contents: await trees.contents([oldId])});
    }
    return '';
  } catch (error) {
    return `; putting back what was written failed too (${getErrorMessage(error)}): look at ${formatNames(written.map((change) => change.path))}`;
  }
}

/** @param end the tree whose changes are stored */
async function keepPatch({origin, trees, keepIn}: KeepDeps, end: string, why: string, explanation: string) {
  const patch = await keepFile(keepIn, 'changes.patch', (draft) => trees.writePatch(origin.start, end, draft));
  const byHand = `git -C ${quoteForShell(origin.top)} apply --reject ${quoteForShell(patch)}`;
  return {patch, why, explanation: `${explanation} The changes are kept as a patch; to apply what fits: ${byHand}`};
}

function formatNames(files: readonly string[]): string {
  const more = files.length > MAX_NAMED ? ` and ${files.length - MAX_NAMED} more` : '';
  return `${files.slice(0, MAX_NAMED).map(formatFileName).join(', ')}${more}`;
}

/**
 * Adds ignored files to the next captures.
 * @param choose returns the files to add for an ignored file or folder, which ends with a slash
 * @returns the names of added files, and what stays ignored, both relative to the top
 */
async function takeIgnored(
  trees: Trees,
  top: string,
  choose: (ignored: string) => readonly string[],
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<{readonly taken: ReadonlySet<string>; readonly left: readonly string[]}> {
  const ignored = await trees.listIgnored();
  const taken = new Set<string>();
  for (const name of ignored.flatMap(choose)) {
    const stat = await lstat(path.join(top, name)).catch(ignoreMissing);
    if (stat?.isFile() && stat.size <= maxBytes) taken.add(name);
  }
  if (taken.size === 0) return {taken, left: ignored};
  await trees.capture({with: [...taken]});
  return {taken, left: await trees.listIgnored()};
}

/** Paths of the run's changes that differ in the workspace from the start of the worktree. */
interface ChangedMeanwhile {
  /** Paths that were created, removed, or replaced by another kind of file. The run's change cannot be applied. */
  readonly replaced: readonly string[];
  /** Files that both sides changed, as changes from the start to the workspace. They may fit together. */
  readonly edited: readonly TreeDiff[];
  /** Files that are already as the run left them, e.g. because they were brought back before a crash. */
  readonly done: readonly string[];
}

async function findChangedMeanwhile(
  {origin, trees}: DeliveryDeps,
  changes: readonly TreeDiff[],
): Promise<ChangedMeanwhile> {
  const existing = new Set(changes.filter(({oldMode}) => oldMode !== ABSENT).map((change) => change.path));
  const found = {replaced: [] as string[], edited: [] as TreeDiff[], done: [] as string[]};
  for (const change of changes) {
    const now = await readPresentState(origin, change.path, existing);
    const how = now === 'elsewhere' ? 'replaced' : compare(now.state, change);
    if (how === 'edited' && now !== 'elsewhere') found.edited.push(await describeEdit(trees, change, now));
    else if (how === 'replaced' || how === 'done') found[how].push(change.path);
  }
  return found;
}

/** @returns `elsewhere` when a link leads elsewhere that the run did not replace */
async function readPresentState({top, objectFormat}: Origin, name: string, existing: ReadonlySet<string>) {
  try {
    return await readFileState(path.join(top, name), objectFormat);
  } catch (error) {
    if (getErrorCode(error) !== 'LINK') throw error;
    return (await leadsThroughLink(top, name, existing)) ? 'elsewhere' : ({state: null} satisfies ReadState);
  }
}

/** Stores the present content, and returns how it differs from the start. */
async function describeEdit(trees: Trees, change: TreeDiff, {state, content}: ReadState): Promise<TreeDiff> {
  const isExecutable = state?.kind === 'file' && state.executable === true;
  return {...change, newMode: isExecutable ? '100755' : '100644', newId: await trees.store(content ?? Buffer.alloc(0))};
}

/** Compares contents, not times: a file that was changed and restored is unchanged. */
function compare(now: FileState, change: TreeDiff): 'replaced' | 'edited' | 'done' | undefined {
  const {from: before, to: after} = toStates(change);
  if (isSameState(now, after)) return 'done';
  if (isSameState(now, before)) return undefined;
  if (now?.kind !== 'file' || before?.kind !== 'file' || after?.kind !== 'file') return 'replaced';
  // When the run changed only the content, a changed executable bit does not matter.
  const isSameMode = Boolean(now.executable) === Boolean(before.executable);
  return !isSameMode && change.oldMode !== change.newMode ? 'replaced' : 'edited';
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
