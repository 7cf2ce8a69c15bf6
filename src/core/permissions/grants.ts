/** What one `yes for this session` covers: this very command, or all edits inside the workspace, or this folder. */
import {statSync} from 'node:fs';
import path from 'node:path';
import type {Access, Workspace} from '../contract/access.ts';
import {isInside} from '../util/paths.ts';
import {isAlwaysAsked, type PermissionPlaces, placeOf, rootsOf} from './files/file-zone.ts';
import {resolveLinks} from './files/paths.ts';

export const EDITS = 'edits inside the workspace';
/** Less than the above: they come back only where nobody else changed the files. */
export const WORKTREE_EDITS = 'edits inside worktrees';

export function grantFor(access: Access, workspace: Workspace, places: PermissionPlaces): string {
  switch (access.kind) {
    case 'run':
      return runGrant(access.command);
    case 'fetch':
      return fetchGrant(access.host);
    case 'write':
      return writeGrant(access.path, workspace, places);
    case 'read':
      return readGrant(access.path, workspace, places);
    default:
      return access.kind;
  }
}

export function runGrant(command: string): string {
  return `run ${command}`;
}

export function fetchGrant(host: string): string {
  return `fetch ${host}`;
}

export function writeGrant(given: string, workspace: Workspace, places: PermissionPlaces): string {
  const target = resolveLinks(given, workspace.cwd);
  const isOrdinary = !isAlwaysAsked(target, workspace, places) && isInside(target, rootsOf(workspace));
  if (!isOrdinary) return `write ${target}`;
  return workspace.confinement === 'worktree' ? WORKTREE_EDITS : EDITS;
}

/** The folder that is searched, or in which the file lies. Keys that lie beside it are not meant. */
export function readGrant(given: string, workspace: Workspace, places: PermissionPlaces): string {
  const target = resolveLinks(given, workspace.cwd);
  if (placeOf(target, workspace, places) === 'secret') return `read keys in ${target}`;
  const isFolder = statSync(target, {throwIfNoEntry: false})?.isDirectory() ?? false;
  return `read in ${isFolder ? target : path.dirname(target)}`;
}

/** The words beside `2`, so that a person knows what the yes covers. */
export function grantWords(grants: readonly string[]): string {
  const [grant = ''] = grants;
  if (grant === EDITS) return 'yes, all edits in this workspace for this session';
  if (grant === WORKTREE_EDITS) return 'yes, all edits in worktrees for this session';
  if (grant.startsWith('run ')) return 'yes, this command for this session';
  if (grant.startsWith('fetch ')) return `yes, all of ${grant.slice('fetch '.length)} for this session`;
  if (grant.startsWith('read ')) return `yes, reading ${grant.slice('read '.length)} for this session`;
  if (grant.startsWith('write ')) return 'yes, writing this file for this session';
  return 'yes, for this session';
}
