/** What kind of place a file lies in: the innermost of the places that hold it decides, as in the sandbox. */
import {realpathSync} from 'node:fs';
import type {Workspace} from '../../contract/access.ts';
import {WORKTREES} from '../../contract/worktree.ts';
import {isInside} from '../../util/paths.ts';

export interface PermissionPlaces {
  /** Folders that mini-cc itself points agents to: cut outputs and transcripts of this session, whichever it is now. */
  readonly ownFolders: () => readonly string[];
  /** Where keys live: reading there is asked for, or refused, also inside the workspace. */
  readonly secretPlaces: readonly string[];
}

export type Place = 'workspace' | 'own' | 'secret' | 'outside';

/** @param target absolute, links resolved */
export function placeOf(target: string, workspace: Workspace, places: PermissionPlaces): Place {
  const own = places.ownFolders();
  const all: readonly (readonly [string, Place])[] = [
    ...places.secretPlaces.map((folder) => [folder, 'secret'] as const),
    ...own.map((folder) => [folder, 'own'] as const),
    // The trees of other runs; of a run that works in one, that one is its workspace.
    ...own.map((folder) => [`${folder}/${WORKTREES}`, 'secret'] as const),
    ...rootsOf(workspace).map((folder) => [folder, 'workspace'] as const),
  ];
  let innermost: readonly [string, Place] = ['', 'outside'];
  for (const place of all) {
    const [folder, kind] = place;
    const holds = kind === 'secret' ? isInsideAnyCase(target, [folder]) : isInside(target, [folder]);
    if (holds && folder.length > innermost[0].length) innermost = place;
  }
  return innermost[1];
}

export function rootsOf({root, extraRoots}: Workspace): readonly string[] {
  return [root, ...extraRoots];
}

/** The path as it counts for what is protected: a worktree lies in a folder of mini-cc's, and is none of its files. */
export function ownPath(target: string, workspace: Workspace): string {
  if (workspace.confinement !== 'worktree') return target;
  const root = rootsOf(workspace)
    .filter((folder) => isInside(target, [folder]))
    .sort((a, b) => a.length - b.length)[0];
  return root === undefined ? target : target.slice(root.length);
}

/** Could change what runs later, or keys: always asked for before it is written. @param target absolute, without links */
export function isAlwaysAsked(target: string, workspace: Workspace, places: PermissionPlaces): boolean {
  const place = placeOf(target, workspace, places);
  return isProtected(ownPath(target, workspace)) || place === 'secret' || place === 'own';
}

/** Like `isInside`, on file systems that take `.SSH` for `.ssh` too. */
function isInsideAnyCase(target: string, folders: readonly string[]): boolean {
  return isInside(
    target.toLowerCase(),
    folders.map((folder) => folder.toLowerCase()),
  );
}

/** The places as they are written, and as they are where one of them is a link. */
export function withTheirLinks(places: readonly string[]): string[] {
  return [...new Set(places.flatMap((place) => [place, realOr(place)]))];
}

function realOr(place: string): string {
  try {
    return realpathSync(place);
  } catch {
    // Not there, or not to be entered: then it is what it is called.
    return place;
  }
}

const PROTECTED_FOLDERS = new Set(['.git', '.mini-cc', '.claude', '.ssh', '.gnupg', '.aws']);
const PROTECTED_FILES = new Set([
  ...['.bashrc', '.bash_profile', '.bash_login', '.bash_logout', '.bash_aliases', '.profile', '.inputrc'],
  ...['.zshrc', '.zprofile', '.zshenv', '.zlogin', '.zlogout', 'config.fish'],
  ...['.netrc', '.npmrc', '.gitconfig', '.gitmodules', '.git-credentials', '.envrc'],
]);

/** Is always asked for before it is written, by its name. @param target absolute, with links resolved. */
export function isProtected(target: string): boolean {
  const names = target.split('/').map(plainName);
  return names.some((name) => PROTECTED_FOLDERS.has(name)) || PROTECTED_FILES.has(names.at(-1) ?? '');
}

/** As the most forgiving file system would take it: without case, dots at the end, streams, letters that are not seen. */
function plainName(name: string): string {
  const plain = name
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .toLowerCase()
    .replace(/:.*$/s, '')
    .replace(/[. ]+$/, '');
  return /^git~\d+$/.test(plain) ? '.git' : plain;
}
