/**
 * Says what one answer "yes for this session" covers: this command, all edits inside the workspace, reading this
 * folder, …
 */
import {statSync} from 'node:fs';
import path from 'node:path';
import type {Access, Workspace} from '../contract/permission.ts';
import {tryOr} from '../util/errors.ts';
import {isInside} from '../util/paths.ts';
import {getFileZone, getRoots, isAlwaysAsked, type ZonePaths} from './files/file-zone.ts';
import {getPlace} from './files/resolve-links.ts';

export const EDITS = 'edits inside the workspace';
/**
 * This grant covers less than `EDITS`: changes come back from a worktree only to files that did not change in the
 * meantime.
 */
export const WORKTREE_EDITS = 'edits inside worktrees';

export function getGrant(access: Access, tool: string, workspace: Workspace, zonePaths: ZonePaths): string {
  switch (access.kind) {
    case 'run':
      return getRunGrant(access.command);
    case 'fetch':
      return getFetchGrant(access.host);
    case 'write':
      return getWriteGrant(getPlace(access, workspace), workspace, zonePaths);
    case 'read':
      return getReadGrant(getPlace(access, workspace), workspace, zonePaths);
    case 'mcp':
      return getMcpGrant(tool);
    default:
      return access.kind;
  }
}

export function getRunGrant(command: string): string {
  return `run ${command}`;
}

export function getFetchGrant(host: string): string {
  return `fetch ${host}`;
}

export function getMcpGrant(tool: string): string {
  return `tool ${tool}`;
}

/** @param target absolute, with links resolved */
export function getWriteGrant(target: string, workspace: Workspace, zonePaths: ZonePaths): string {
  const isOrdinary = !isAlwaysAsked(target, workspace, zonePaths) && isInside(target, getRoots(workspace));
  if (!isOrdinary) return `write ${target}`;
  return workspace.confinement === 'worktree' ? WORKTREE_EDITS : EDITS;
}

/**
 * Covers the folder that is searched, or the folder of the file, without the keys in it.
 * @param target absolute, with links resolved
 */
export function getReadGrant(target: string, workspace: Workspace, zonePaths: ZonePaths): string {
  if (getFileZone(target, workspace, zonePaths) === 'secret') return `read keys in ${target}`;
  // This user may not look at some places, such as the root of another process.
  const isFolder = tryOr(() => statSync(target).isDirectory(), false);
  return `read in ${isFolder ? target : path.dirname(target)}`;
}

/** Returns the label of choice 2 of a question, which says what the answer covers. */
export function describeGrant(grant: string): string {
  if (grant === EDITS) return 'yes, all edits in this workspace for this session';
  if (grant === WORKTREE_EDITS) return 'yes, all edits in worktrees for this session';
  if (grant.startsWith('run ')) return 'yes, this command for this session';
  if (grant.startsWith('fetch ')) return `yes, all of ${grant.slice('fetch '.length)} for this session`;
  if (grant.startsWith('tool ')) return 'yes, this tool for this session';
  if (grant.startsWith('read ')) return `yes, reading ${grant.slice('read '.length)} for this session`;
  if (grant.startsWith('write ')) return 'yes, writing this file for this session';
  return 'yes, for this session';
}
