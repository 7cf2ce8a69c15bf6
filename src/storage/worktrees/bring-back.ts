/**
 * From a worktree back into the workspace: applied as a whole where it fits, also beside what others changed
 * in the same file meanwhile, else kept as a patch. What mini-cc never writes unasked is kept in any case.
 */
import {chmod, lstat, mkdir, readFile, rename, rm, writeFile} from 'node:fs/promises';
import path from 'node:path';
import type {BroughtBack, KeptChanges} from '../../core/contract/worktree.ts';
import {messageOf} from '../../core/util/errors.ts';
import {orAbsent} from '../../core/util/file-errors.ts';
import {inOneLine} from '../../core/util/file-name.ts';
import {ABSENT, type Change, type Snapshots} from './snapshots.ts';
import {type ChangedMeanwhile, WorkspaceFiles} from './workspace-conflicts.ts';
import {freeName, type Origin, shellWord} from './worktree-folder.ts';

interface KeepDeps {
  readonly origin: Origin;
  readonly snapshots: Snapshots;
  /** Where a patch is kept. */
  readonly keepIn: string;
  /** For files that are on their way; on the same disk as `keepIn`. */
  readonly scratch: string;
}

export interface BringBackDeps extends KeepDeps {
  /** The worktree's top. */
  readonly tree: string;
  /** Files that are never written without a question; relative to the repository's top. */
  readonly isProtected: (file: string) => boolean;
  /** Does the writing, so that what was there before is kept for undo. */
  readonly writing: (work: () => Promise<void>) => Promise<unknown>;
}

const MOST_NAMED = 3;

/** @param written by the run's tools, absolute. @throws Error when the changes can neither be applied nor kept. */
export async function bringBack(deps: BringBackDeps, written: readonly string[]): Promise<BroughtBack> {
  const {origin, snapshots} = deps;
  const {taken, left} = await ignoredIn(snapshots, deps.tree, written);
  const {changes, end, notes: told} = await whatChanged(deps);
  const notes = left.length === 0 ? told : [...told, `Not brought back, since git ignores it: ${named(left)}`];
  const isThere = new Set<string>();
  for (const file of taken) if (await lstat(path.join(origin.top, file)).catch(orAbsent)) isThere.add(file);
  const whyHeld = (change: Change) => whyHeldBack(change, deps, isThere);
  const held = changes.filter((change) => whyHeld(change) !== undefined);
  const free = changes.filter((change) => !held.includes(change));
  const part = held.length === 0 ? end : await snapshots.withOnly(origin.start, free);
  const whyNot = free.length === 0 ? undefined : await apply(deps, free, part);
  if (whyNot !== undefined) {
    const words = `Nothing was applied: ${whyNot.words}.`;
    return {applied: [], notes, kept: await keep(deps, end, whyNot.why, words)};
  }
  const applied = free.map(({path: file}) => path.join(origin.top, file));
  if (held.length === 0) return {applied, notes};
  const why = held.length === 1 ? whyHeld(held[0]!)! : `${held.length} files that need a person`;
  const words = `${held.map(whyHeld).join('; ')}: what changed there was not applied.`;
  return {applied, notes, kept: await keep(deps, await snapshots.withOnly(origin.start, held), why, words)};
}

/** What a worktree that nobody works in any more still holds. @returns undefined when nothing was changed in it. */
export async function keepAll({
  why,
  ...deps
}: KeepDeps & Pick<BringBackDeps, 'tree'> & {readonly why: string}): Promise<KeptChanges | undefined> {
  const {left} = await ignoredByCrash(deps.snapshots, deps.tree);
  const {changes, end} = await whatChanged(deps);
  const gone = left.length === 0 ? '' : ` Not kept, since git ignores it: ${named(left)}.`;
  return changes.length === 0 ? undefined : keep(deps, end, why, `Nothing was applied.${gone}`);
}

async function whatChanged({snapshots, origin, keepIn}: KeepDeps) {
  const nested = await snapshots.unnest(path.join(keepIn, 'repositories'));
  const end = await snapshots.take();
  const changes = await snapshots.changes(origin.start, end);
  const kept = path.join(keepIn, 'repositories');
  const notes = nested.map((folder) => `${folder} was a git repository of its own: its .git is in ${kept}/${folder}`);
  return {changes, end, notes};
}

/** @param isThere of the files that git ignores: those that the workspace has too, which no worktree begins with. */
function whyHeldBack(
  {path: file}: Change,
  {origin, isProtected}: BringBackDeps,
  isThere: ReadonlySet<string>,
): string | undefined {
  const name = inOneLine(file);
  if (origin.prefix !== '' && !file.startsWith(`${origin.prefix}/`)) return `${name} lies outside the workspace`;
  if (isProtected(file)) return `${name} is protected`;
  return isThere.has(file) ? `${name}, which git ignores, is in the workspace already` : undefined;
}

interface WhyNot {
  readonly why: string;
  readonly words: string;
}

/** All or nothing. @returns why not. */
async function apply(deps: BringBackDeps, changes: readonly Change[], tree: string): Promise<WhyNot | undefined> {
  const {origin, snapshots, scratch} = deps;
  const patch = path.join(scratch, 'apply.patch');
  let whyNot: WhyNot | undefined;
  try {
    await snapshots.writePatch(origin.start, tree, patch);
    // Looked at within: whoever keeps what was there before may have waited for others to end their writing.
    await deps.writing(async () => {
      const meanwhile = await new WorkspaceFiles(origin.top, origin.objectFormat).changedMeanwhile(changes);
      whyNot = (await obstacles(deps, meanwhile, patch)) ?? (await applyNow(deps, changes, patch, meanwhile.edited));
    });
    return whyNot;
  } catch (error) {
    return failed(messageOf(error));
  } finally {
    await rm(patch, {force: true});
  }
}

/** Lines that both changed, or that stand beside each other, are a conflict; elsewhere in a file both changes fit. */
async function obstacles(
  {origin, snapshots}: BringBackDeps,
  {replaced, edited}: ChangedMeanwhile,
  patch: string,
): Promise<WhyNot | undefined> {
  if (replaced.length > 0) return conflict([...replaced, ...edited]);
  const unfit = await snapshots.unfit(patch, origin.top);
  if (unfit === undefined) return undefined;
  if (edited.length === 0) return failed(unfit);
  // Git quotes odd names: then all that it may be are named.
  const told = edited.filter((file) => unfit.includes(file));
  return conflict(told.length > 0 ? told : edited);
}

function conflict(files: readonly string[]): WhyNot {
  return {why: `conflict in ${named(files)}`, words: `${named(files)} changed in the workspace since this run began`};
}

async function applyNow(
  deps: BringBackDeps,
  changes: readonly Change[],
  patch: string,
  edited: readonly string[],
): Promise<WhyNot | undefined> {
  const {origin, snapshots} = deps;
  const modes = await modesOf(changes, origin.top);
  const asEdited = new Map<string, Buffer>();
  for (const file of edited) asEdited.set(file, await readFile(path.join(origin.top, file)));
  try {
    await snapshots.apply(patch, origin.top);
    for (const [file, mode] of modes) await chmod(file, mode);
    return undefined;
  } catch (error) {
    return failed(`${messageOf(error)}${await putBack(deps, changes, asEdited, modes)}`);
  }
}

function failed(words: string): WhyNot {
  return {why: 'applying them failed', words};
}

/** Of files whose mode was not changed: git would make them anew, with the mode of a new file. */
async function modesOf(changes: readonly Change[], top: string): Promise<(readonly [string, number])[]> {
  const modes: (readonly [string, number])[] = [];
  for (const {path: name, oldMode, newMode} of changes) {
    const file = path.join(top, name);
    const stat = oldMode === newMode ? await lstat(file).catch(orAbsent) : undefined;
    if (stat?.isFile()) modes.push([file, stat.mode & 0o7777]);
  }
  return modes;
}

/** After a failure half way, e.g. on a full disk. @returns what to add to its words when that fails too. */
async function putBack(
  {origin, snapshots}: BringBackDeps,
  changes: readonly Change[],
  asEdited: ReadonlyMap<string, Buffer>,
  modes: Awaited<ReturnType<typeof modesOf>>,
): Promise<string> {
  try {
    for (const {path: name, oldMode} of changes) {
      const file = path.join(origin.top, name);
      // A folder was there before: git apply makes none in the place of a file.
      if (oldMode === ABSENT && !(await lstat(file).catch(orAbsent))?.isDirectory()) await rm(file, {force: true});
    }
    const before = changes.filter(({oldMode}) => oldMode !== ABSENT).map(({path: name}) => name);
    await snapshots.restore(origin.start, before, origin.top);
    for (const [name, content] of asEdited) await writeFile(path.join(origin.top, name), content);
    for (const [file, mode] of modes) await chmod(file, mode);
    return '';
  } catch (error) {
    return `; putting back what was written failed too (${messageOf(error)}): look at ${named(changes.map(({path: name}) => name))}`;
  }
}

async function keep({snapshots, origin, keepIn, scratch}: KeepDeps, tree: string, why: string, words: string) {
  await mkdir(keepIn, {recursive: true, mode: 0o700});
  const draft = path.join(scratch, 'kept.patch');
  await snapshots.writePatch(origin.start, tree, draft);
  await chmod(draft, 0o600);
  const patch = await freeName(keepIn, 'changes', 'patch');
  await rename(draft, patch);
  const byHand = `git -C ${shellWord(origin.top)} apply --reject ${shellWord(patch)}`;
  return {patch, why, explanation: `${words} The changes are kept as a patch; to apply what fits: ${byHand}`};
}

function named(files: readonly string[]): string {
  const more = files.length > MOST_NAMED ? ` and ${files.length - MOST_NAMED} more` : '';
  return `${files.slice(0, MOST_NAMED).map(inOneLine).join(', ')}${more}`;
}

/** Of one file that nobody can say who wrote. */
const MOST_BYTES = 10 * 1024 * 1024;

interface IgnoredFiles {
  /** Written by tools: part of the next snapshot. Relative to the tree's top. */
  readonly taken: ReadonlySet<string>;
  /** Relative; a folder ends with a slash. */
  readonly left: readonly string[];
}

/** @param written by the run's tools, absolute. @param top of the tree */
async function ignoredIn(snapshots: Snapshots, top: string, written: readonly string[]): Promise<IgnoredFiles> {
  const ignored = await snapshots.ignored();
  const taken = new Set<string>();
  for (const file of written) {
    const name = path.relative(top, file);
    const isIgnored = ignored.some((each) => each === name || (each.endsWith('/') && name.startsWith(each)));
    if (isIgnored && (await lstat(file).catch(orAbsent))?.isFile()) taken.add(name);
  }
  if (taken.size === 0) return {taken, left: ignored};
  await snapshots.takeAlso([...taken]);
  return {taken, left: await snapshots.ignored()};
}

/** After a crash nobody knows which were meant: single files are taken, folders are what builds and installs leave. */
async function ignoredByCrash(snapshots: Snapshots, top: string): Promise<IgnoredFiles> {
  const taken = new Set<string>();
  for (const name of await snapshots.ignored()) {
    const about = await lstat(path.join(top, name));
    if (about.isFile() && about.size <= MOST_BYTES) taken.add(name);
  }
  if (taken.size > 0) await snapshots.takeAlso([...taken]);
  return {taken, left: await snapshots.ignored()};
}
