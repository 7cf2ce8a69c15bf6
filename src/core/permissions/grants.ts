/** What one `yes for this session` covers: this very command, or all edits inside the workspace, or this folder. */
import path from 'node:path';
import type {Access, Workspace} from '../tool.ts';
import {isInside, resolveLinks} from './paths.ts';
import {isAlwaysAsked, type PermissionPlaces, rootsOf} from './place-of.ts';

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
      return readGrant(access.path, workspace);
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

export function readGrant(given: string, workspace: Workspace): string {
  return `read ${path.dirname(resolveLinks(given, workspace.cwd))}`;
}

/** The words beside `2`, so that a person knows what the yes covers. */
export function grantWords(grants: readonly string[]): string {
  const [grant = ''] = grants;
  if (grant === EDITS) return 'yes, all edits in this workspace for this session';
  if (grant === WORKTREE_EDITS) return 'yes, all edits in worktrees for this session';
  if (grant.startsWith('run ')) return 'yes, this command for this session';
  if (grant.startsWith('fetch ')) return `yes, all of ${grant.slice('fetch '.length)} for this session`;
  if (grant.startsWith('read ')) return `yes, reading in ${grant.slice('read '.length)} for this session`;
  return 'yes, for this session';
}
