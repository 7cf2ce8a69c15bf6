/**
 * Finds the repository that contains the workspace, and its git folders that are elsewhere. It only reads files,
 * because git would run what the settings of a repository name.
 */
import {realpathSync, statSync} from 'node:fs';
import path from 'node:path';
import type {Claim, Trusts} from '../../core/contract/permission.ts';
import {tryOr} from '../../core/util/errors.ts';
import {
  findReadableRepository,
  type GitRepository,
  pointsBack,
  readRepository,
  readSmallFile,
} from '../../core/util/files/git-folder.ts';
import {isInside} from '../../core/util/paths.ts';

/** Limit of alternates. A file of alternates names few folders, and these name few more. */
const MAX_ALTERNATES = 50;
const MAX_BYTES = 64 * 1024;

interface RepositorySearch {
  /** Absolute, with links resolved. */
  readonly home: string;
  /**
   * Whether the user trusts the claims of a project's file. Only then are other repositories shown whose objects it
   * uses.
   */
  readonly trusts: Trusts;
}

/** @param root absolute, with links resolved @returns folders that git needs there; some may be inside others */
export function findRepositoryFolders(root: string, {home, trusts}: RepositorySearch): string[] {
  const repository = findOwnRepository(root, home);
  if (repository === undefined) return [];
  const claim = getAlternatesClaim(repository);
  const alternates = claim && trusts(claim) ? followAlternates(claim.value as string[]) : [];
  return [repository.top, ...findGitFolders(repository), ...alternates];
}

/** Returns the git folders of a folder that `--add-dir` names. The repositories around it stay hidden. */
export function findGitFoldersOf(folder: string): string[] {
  const repository = readRepository(folder);
  return repository === undefined || repository.kind === 'unreadable' ? [] : findGitFolders(repository);
}

/** Returns the claim of a `--shared` clone: that commands see the objects of other repositories. */
export function alternatesClaims(root: string, home: string): Claim[] {
  const repository = findOwnRepository(root, home);
  const claim = repository && getAlternatesClaim(repository);
  return claim ? [claim] : [];
}

/** Undefined where the top is the home, a folder above it, or one in which other users may write, such as `/tmp`. */
function findOwnRepository(root: string, home: string): GitRepository | undefined {
  const found = findReadableRepository(root);
  if (found === undefined) return undefined;
  return found.top !== root && (isInside(home, [found.top]) || isWritableByOthers(found.top, getOwner(root)))
    ? undefined
    : found;
}

function findGitFolders(repository: GitRepository): string[] {
  if (!pointsBack(repository)) return [];
  const folder = resolve(repository.folder);
  const common = resolve(repository.common);
  if (folder === undefined || common === undefined) return [];
  // The folder that a linked worktree shares is the one that contains its own.
  const isShared = common === folder || common === path.dirname(path.dirname(folder));
  return isShared ? [common] : [folder];
}

function getAlternatesClaim(repository: GitRepository): Claim | undefined {
  if (!pointsBack(repository)) return undefined;
  const objects = resolve(path.join(repository.common, 'objects'));
  const value = objects === undefined ? [] : readAlternates(objects);
  if (value.every((each) => isInside(each, [repository.top]))) return undefined;
  return {file: path.join(repository.common, 'objects', 'info', 'alternates'), key: 'alternates', value};
}

/** Returns these folders of objects and those that they name in turn. */
function followAlternates(first: readonly string[]): string[] {
  const found = new Set<string>();
  const queue = [...first];
  for (let next = queue.pop(); next !== undefined && found.size < MAX_ALTERNATES; next = queue.pop()) {
    if (found.has(next)) continue;
    found.add(next);
    queue.push(...readAlternates(next));
  }
  return [...found];
}

/** Returns the existing folders of objects that the folder names. */
function readAlternates(objects: string): string[] {
  const file = path.join(objects, 'info', 'alternates');
  return (readSmallFile(file, MAX_BYTES) ?? '')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .flatMap((line) => resolve(path.resolve(objects, line)) ?? [])
    .filter((folder) => path.basename(folder) === 'objects' && tryOr(() => statSync(folder).isDirectory(), false))
    .slice(0, MAX_ALTERNATES);
}

/** Whether users other than root, this user and `owner` may write there. */
export function isWritableByOthers(folder: string, owner?: number): boolean {
  const stat = tryOr(() => statSync(folder), undefined);
  if (!stat) return true;
  const {mode, uid, gid} = stat;
  const isOwn = uid === 0 || uid === process.getuid?.() || uid === owner;
  const isOwnGroup = gid === 0 || gid === process.getgid?.();
  return !isOwn || (mode & 0o002) !== 0 || ((mode & 0o020) !== 0 && !isOwnGroup);
}

function getOwner(folder: string): number | undefined {
  return statSync(folder, {throwIfNoEntry: false})?.uid;
}

function resolve(place: string): string | undefined {
  return tryOr(() => realpathSync(place), undefined);
}
