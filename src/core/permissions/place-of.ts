/** What kind of place a file lies in: the innermost of the places that hold it decides, as in the sandbox. */
import type {Workspace} from '../tool.ts';
import {WORKTREES} from '../worktree.ts';

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
  for (const place of all) if (isInside(target, [place[0]]) && place[0].length > innermost[0].length) innermost = place;
  return innermost[1];
}

export function rootsOf({root, extraRoots}: Workspace): readonly string[] {
  return [root, ...extraRoots];
}

export function isInside(target: string, folders: readonly string[]): boolean {
  return folders.some((folder) => target === folder || target.startsWith(folder.endsWith('/') ? folder : `${folder}/`));
}

/** The path as it counts for what is protected: a worktree lies in a folder of mini-cc's, and is none of its files. */
export function ownPath(target: string, workspace: Workspace): string {
  if (workspace.confinement !== 'worktree') return target;
  const root = rootsOf(workspace)
    .filter((folder) => isInside(target, [folder]))
    .sort((a, b) => a.length - b.length)[0];
  return root === undefined ? target : target.slice(root.length);
}
