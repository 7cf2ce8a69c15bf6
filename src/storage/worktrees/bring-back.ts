/**
 * Brings the changes of a worktree back into the workspace. They are applied all together when they fit, also into
 * files that others changed elsewhere meanwhile; otherwise they are kept as a patch. Changes of protected files are
 * always kept.
 */
import {chmod, lstat, mkdir, readFile, rename, rm} from 'node:fs/promises';
import path from 'node:path';
import type {BroughtBack} from '../../core/contract/worktree.ts';
import {getErrorMessage, ignoreMissing} from '../../core/util/errors.ts';
import {writeWhole} from '../../core/util/files/whole-file.ts';
import {formatFileName} from '../../core/util/paths.ts';
import type {TreeDiff} from '../trees/git.ts';
import {ABSENT, type TreeSnapshots} from '../trees/trees.ts';
import {moveFiles, moveRefusedFiles} from './refused-files.ts';
import {type ChangedMeanwhile, WorkspaceConflicts} from './workspace-conflicts.ts';
import {findUnusedPath, type Origin, quoteForShell} from './worktree-folder.ts';

interface KeepDeps {
  readonly origin: Origin;
  readonly snapshots: TreeSnapshots;
  /** The folder for patches. */
  readonly keepIn: string;
  /** A folder for temporary files, on the same disk as `keepIn`. */
  readonly scratch: string;
}

export interface BringBackDeps extends KeepDeps {
  /** The top of the worktree. */
  readonly tree: string;
  /** Whether a file is never written without a question. Paths are relative to the top of the repository. */
  readonly isProtected: (file: string) => boolean;
  /** Wraps the writing of these files, absolute, so that checkpoints store the earlier contents for undo. */
  readonly writing: (files: readonly string[], work: () => Promise<void>) => Promise<unknown>;
}

/** What is needed once the changes are known. */
type DeliveryDeps = Omit<BringBackDeps, 'tree'>;

const MAX_NAMED = 3;
/** Of Linux, with the byte that ends it. The path in the workspace may be longer than in the worktree. */
const MAX_PATH_BYTES = 4095;

/**
 * @param written absolute paths that the run's tools wrote
 * @throws Error when changes can neither be applied nor kept
 */
export async function bringBack(deps: BringBackDeps, written: readonly string[]): Promise<BroughtBack> {
  const {taken, end, ...found} = await findAllChanges(deps, written);
  const patch = path.join(deps.scratch, 'changes.patch');
  if (found.changes.length > 0) await deps.snapshots.writePatch(deps.origin.start, end, patch);
  const existing = new Set<string>();
  for (const file of taken) if (await lstat(path.join(deps.origin.top, file)).catch(ignoreMissing)) existing.add(file);
  return deliver(deps, {...found, patch}, existing);
}

/** The changes of a tree as a patch in `file`, for another machine. @returns what changed, as if it were in the workspace */
export async function exportChanges(
  deps: KeepDeps & Pick<BringBackDeps, 'tree'>,
  written: readonly string[],
  file: string,
): Promise<BroughtBack> {
  const {changes, end, notes} = await findAllChanges(deps, written);
  await mkdir(path.dirname(file), {recursive: true, mode: 0o700});
  if (changes.length > 0) await deps.snapshots.writePatch(deps.origin.start, end, file);
  return {applied: changes.map(({path: name}) => path.join(deps.origin.top, name)), notes};
}

export interface FoundChanges {
  readonly changes: readonly TreeDiff[];
  /** The file with them; not read when there are none. */
  readonly patch: string;
  /** Lines for a person. */
  readonly notes: readonly string[];
}

async function findAllChanges(deps: KeepDeps & Pick<BringBackDeps, 'tree'>, written: readonly string[]) {
  const {taken, left} = await takeWrittenIgnoredFiles(deps.snapshots, deps.tree, written);
  const {changes, end, notes} = await findChanges(deps, left);
  const ignored = left.length === 0 ? [] : [`Not brought back, since git ignores it: ${formatNames(left)}`];
  return {taken, changes, end, notes: [...notes, ...ignored]};
}

/** Applies changes to the workspace, or keeps them. @param existing ignored files that the workspace has too */
export async function deliver(
  deps: DeliveryDeps,
  {changes, patch, notes}: FoundChanges,
  existing: ReadonlySet<string> = new Set(),
): Promise<BroughtBack> {
  const {origin} = deps;
  const getReason = (change: TreeDiff) => whyNotApplied(change, deps, existing);
  const excluded = changes.filter((change) => getReason(change) !== undefined);
  const included = changes.filter((change) => !excluded.includes(change));
  const part = excluded.length === 0 ? patch : await writePart(deps, included, 'included.patch');
  const failure = included.length === 0 ? undefined : await apply(deps, included, part);
  if (failure !== undefined) {
    const explanation = `Nothing was applied: ${failure.explanation}.`;
    return {applied: [], notes, kept: await keepPatch(deps, patch, failure.why, explanation)};
  }
  const applied = included.map(({path: file}) => path.join(origin.top, file));
  if (excluded.length === 0) return {applied, notes};
  const why = excluded.length === 1 ? getReason(excluded[0]!)! : `${excluded.length} files that need a person`;
  const explanation = `${excluded.map(getReason).join('; ')}: these changes were not applied.`;
  const rest = await writePart(deps, excluded, 'excluded.patch');
  return {applied, notes, kept: await keepPatch(deps, rest, why, explanation)};
}

/** Some of the changes as a patch. @returns its file */
async function writePart({snapshots, origin, scratch}: KeepDeps, changes: readonly TreeDiff[], name: string) {
  const file = path.join(scratch, name);
  await snapshots.writePatch(origin.start, await snapshots.withOnly(origin.start, changes), file);
  return file;
}

/** Keeps all changes of a worktree whose run has ended. @returns lines that say where they are */
export async function keepAll({
  why,
  ...deps
}: KeepDeps & Pick<BringBackDeps, 'tree'> & {readonly why: string}): Promise<readonly string[]> {
  const {left} = await takeIgnoredFilesAfterCrash(deps.snapshots, deps.tree);
  const {changes, end, notes} = await findChanges(deps, left);
  if (changes.length === 0) return notes;
  const notKept = left.length === 0 ? '' : ` Not kept, since git ignores it: ${formatNames(left)}.`;
  const patch = path.join(deps.scratch, 'changes.patch');
  await deps.snapshots.writePatch(deps.origin.start, end, patch);
  return [(await keepPatch(deps, patch, why, `Nothing was applied.${notKept}`)).explanation, ...notes];
}

/** @param ignored what git ignores in the tree */
async function findChanges(
  {snapshots, origin, keepIn, tree: top}: KeepDeps & Pick<BringBackDeps, 'tree'>,
  ignored: readonly string[],
) {
  const repositories = await findUnusedPath(keepIn, 'repositories');
  const nested = await snapshots.unnest(repositories);
  const leftOver = await findUnusedPath(keepIn, 'left-over');
  const first = await moveRefusedFiles(top, nested.length === 0 ? ignored : await snapshots.ignored(), leftOver);
  const {tree: end, refused} = await snapshots.takeWhatFits();
  const second = await moveFiles(top, refused, leftOver);
  const [moved, left] = [
    [...first.moved, ...second.moved],
    [...first.left, ...second.left],
  ];
  const changes = await snapshots.changes(origin.start, end);
  const notes = [
    ...nested.map((folder) => `${folder} was a git repository of its own: its .git is in ${repositories}/${folder}`),
    ...(moved.length === 0
      ? []
      : [`Not brought back, since git refuses it: ${formatNames(moved)}, now in ${leftOver}`]),
    ...(left.length === 0 ? [] : [`Not brought back, since git cannot keep it: ${formatNames(left)}`]),
  ];
  return {changes, end, notes};
}

/**
 * @param existing the ignored files that the workspace has too: no worktree starts with them, so they cannot be
 * compared
 */
function whyNotApplied(
  {path: file, name: bytes}: TreeDiff,
  {origin, isProtected}: Pick<BringBackDeps, 'origin' | 'isProtected'>,
  existing: ReadonlySet<string>,
): string | undefined {
  const name = formatFileName(file);
  if (origin.prefix !== '' && !file.startsWith(`${origin.prefix}/`)) return `${name} is outside the workspace`;
  if (isProtected(file)) return `${name} is protected`;
  if (!Buffer.from(file).equals(bytes)) return `the name ${name} is not in UTF-8`;
  if (Buffer.byteLength(path.join(origin.top, file)) > MAX_PATH_BYTES) return `the path of ${name} is too long`;
  return existing.has(file) ? `${name}, which git ignores, is in the workspace already` : undefined;
}

interface ApplyFailure {
  /** A few words, for the receipt. */
  readonly why: string;
  readonly explanation: string;
}

/** Applies all changes or none. @param patch its file. @returns why it failed; undefined when it worked */
async function apply(
  deps: DeliveryDeps,
  changes: readonly TreeDiff[],
  patch: string,
): Promise<ApplyFailure | undefined> {
  const {origin} = deps;
  let failure: ApplyFailure | undefined;
  try {
    // Checked inside `writing`, which may wait until others have ended their writes.
    await deps.writing(
      changes.map(({path: file}) => path.join(origin.top, file)),
      async () => {
        const meanwhile = await new WorkspaceConflicts(origin.top, origin.objectFormat).changedMeanwhile(changes);
        const left = changes.filter(({path: file}) => !meanwhile.done.includes(file));
        if (left.length === 0) return;
        const part = left.length === changes.length ? patch : await writePart(deps, left, 'left.patch');
        failure = (await findConflict(deps, meanwhile, part)) ?? (await applyNow(deps, left, part, meanwhile.edited));
      },
    );
    return failure;
  } catch (error) {
    return createFailure(getErrorMessage(error));
  }
}

/** Changes of the same or adjacent lines are a conflict. Changes at different places of a file fit together. */
async function findConflict(
  {origin, snapshots}: DeliveryDeps,
  {replaced, edited}: ChangedMeanwhile,
  patch: string,
): Promise<ApplyFailure | undefined> {
  if (replaced.length > 0) return createConflict([...replaced, ...edited]);
  // What is as it was at the start fits.
  if (edited.length === 0) return undefined;
  const problem = await snapshots.checkPatch(patch, origin.top);
  if (problem === undefined) return undefined;
  // Git quotes unusual names. When none is found in its message, all edited files are named.
  const mentioned = edited.filter((file) => problem.includes(file));
  return createConflict(mentioned.length > 0 ? mentioned : edited);
}

function createConflict(files: readonly string[]): ApplyFailure {
  return {
    why: `conflict in ${formatNames(files)}`,
    explanation: `${formatNames(files)} changed in the workspace since this run began`,
  };
}

async function applyNow(
  deps: DeliveryDeps,
  changes: readonly TreeDiff[],
  patch: string,
  edited: readonly string[],
): Promise<ApplyFailure | undefined> {
  const {origin, snapshots} = deps;
  const modes = await readModes(changes, origin.top);
  const asEdited = new Map<string, Buffer>();
  for (const file of edited) asEdited.set(file, await readFile(path.join(origin.top, file)));
  try {
    await snapshots.apply(patch, origin.top);
    for (const [file, mode] of modes) await chmod(file, mode);
    return undefined;
  } catch (error) {
    return createFailure(`${getErrorMessage(error)}${await rollBack(deps, changes, asEdited, modes)}`);
  }
}

function createFailure(explanation: string): ApplyFailure {
  return {why: 'applying them failed', explanation};
}

/** The modes of files whose mode the run did not change: git would create them anew, with the mode of a new file. */
async function readModes(changes: readonly TreeDiff[], top: string): Promise<(readonly [string, number])[]> {
  const modes: (readonly [string, number])[] = [];
  for (const {path: name, oldMode, newMode} of changes) {
    const file = path.join(top, name);
    const stat = oldMode === newMode ? await lstat(file).catch(ignoreMissing) : undefined;
    if (stat?.isFile()) modes.push([file, stat.mode & 0o7777]);
  }
  return modes;
}

/**
 * After a failure half way, e.g. on a full disk.
 * @returns what to add to the explanation when the rollback fails too
 */
async function rollBack(
  {origin, snapshots}: DeliveryDeps,
  changes: readonly TreeDiff[],
  asEdited: ReadonlyMap<string, Buffer>,
  modes: Awaited<ReturnType<typeof readModes>>,
): Promise<string> {
  try {
    for (const {path: name, oldMode} of changes) {
      const file = path.join(origin.top, name);
      // A folder was there before: git apply creates none in the place of a file.
      if (oldMode === ABSENT && !(await lstat(file).catch(ignoreMissing))?.isDirectory()) await rm(file, {force: true});
    }
    const before = changes.filter(({oldMode}) => oldMode !== ABSENT).map(({path: name}) => name);
    await snapshots.restore(origin.start, before, origin.top);
    for (const [name, content] of asEdited) await writeWhole(path.join(origin.top, name), content);
    for (const [file, mode] of modes) await chmod(file, mode);
    return '';
  } catch (error) {
    return `; putting back what was written failed too (${getErrorMessage(error)}): look at ${formatNames(changes.map(({path: name}) => name))}`;
  }
}

/** @param file the patch, which is moved */
async function keepPatch({origin, keepIn}: KeepDeps, file: string, why: string, explanation: string) {
  await mkdir(keepIn, {recursive: true, mode: 0o700});
  await chmod(file, 0o600);
  const patch = await findUnusedPath(keepIn, 'changes.patch');
  await rename(file, patch);
  const byHand = `git -C ${quoteForShell(origin.top)} apply --reject ${quoteForShell(patch)}`;
  return {patch, why, explanation: `${explanation} The changes are kept as a patch; to apply what fits: ${byHand}`};
}

function formatNames(files: readonly string[]): string {
  const more = files.length > MAX_NAMED ? ` and ${files.length - MAX_NAMED} more` : '';
  return `${files.slice(0, MAX_NAMED).map(formatFileName).join(', ')}${more}`;
}

/** Bytes of an ignored file that is kept after a crash. */
const MAX_BYTES = 10 * 1024 * 1024;

interface IgnoredFiles {
  /** Files that go into the next snapshot, relative to the top of the tree. */
  readonly taken: ReadonlySet<string>;
  /** Files and folders that stay ignored, relative; a folder ends with a slash. */
  readonly left: readonly string[];
}

/**
 * Takes ignored files that the run's tools wrote: they were meant.
 * @param written their absolute paths
 * @param top the tree's top
 */
async function takeWrittenIgnoredFiles(
  snapshots: TreeSnapshots,
  top: string,
  written: readonly string[],
): Promise<IgnoredFiles> {
  const ignored = await snapshots.ignored();
  const taken = new Set<string>();
  for (const file of written) {
    const name = path.relative(top, file);
    const isIgnored = ignored.some((each) => each === name || (each.endsWith('/') && name.startsWith(each)));
    if (isIgnored && (await lstat(file).catch(ignoreMissing))?.isFile()) taken.add(name);
  }
  if (taken.size === 0) return {taken, left: ignored};
  await snapshots.include([...taken]);
  return {taken, left: await snapshots.ignored()};
}

/**
 * After a crash, what the tools wrote is not known. Single files are taken; folders are mostly build results and
 * packages.
 */
async function takeIgnoredFilesAfterCrash(snapshots: TreeSnapshots, top: string): Promise<IgnoredFiles> {
  const taken = new Set<string>();
  for (const name of await snapshots.ignored()) {
    const stat = await lstat(path.join(top, name));
    if (stat.isFile() && stat.size <= MAX_BYTES) taken.add(name);
  }
  if (taken.size > 0) await snapshots.include([...taken]);
  return {taken, left: await snapshots.ignored()};
}
