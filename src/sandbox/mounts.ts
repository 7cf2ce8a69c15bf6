/** Which files a confined command sees: mounts over a read-only root, outer ones first. */
import {existsSync} from 'node:fs';
import {sep} from 'node:path';
import {isInside} from '../core/util/paths.ts';
import type {HiddenPath} from './hidden-paths.ts';
import type {ProtectedPlaces} from './protected-places.ts';
import type {ConfineOptions} from './sandbox.ts';

/** Replaced by empty folders, because they contain sockets and files of other users. */
export const PRIVATE_FOLDERS = ['/tmp', '/run'];

/** One mount over the read-only root. Of two mounts at the same path, the later kind in `ORDER` wins. */
interface Mount {
  readonly path: string;
  readonly kind: 'private' | 'shown' | 'writable' | 'read-only' | 'empty' | 'hidden-directory' | 'hidden-file';
}
const ORDER: readonly Mount['kind'][] = [
  ...(['private', 'shown', 'writable', 'read-only', 'empty', 'hidden-directory', 'hidden-file'] as const),
];

/** @param writable what stays read-only in writable roots; undefined when the roots are read-only. @returns bwrap flags. */
export function mountFlags(
  options: ConfineOptions,
  hidden: readonly HiddenPath[],
  writable: ProtectedPlaces | undefined,
): string[] {
  const covered = [...PRIVATE_FOLDERS, ...hidden.map(({path}) => path)];
  const roots = existingRoots(options);
  const seen = (options.seen ?? []).filter((path) => existsSync(path));
  const shown = writable ? seen : [...roots, ...seen];
  const mounts: Mount[] = [
    ...PRIVATE_FOLDERS.map((path): Mount => ({path, kind: 'private'})),
    ...shown.filter((path) => isInside(path, covered)).map((path): Mount => ({path, kind: 'shown'})),
    ...(writable ? writableMounts(roots, writable) : []),
    ...hidden.map(({path, isDirectory}): Mount => ({path, kind: isDirectory ? 'hidden-directory' : 'hidden-file'})),
  ];
  // Outer ones first, so that a workspace inside a hidden directory is visible, and keys inside a workspace are not.
  mounts.sort((a, b) => depth(a.path) - depth(b.path) || ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
  const closed = mounts.filter(({path, kind}) => kind === 'hidden-directory' || kind === 'empty' || path === '/run');
  return [...mounts.flatMap(formatFlags), ...closed.flatMap(({path}) => ['--remount-ro', path])];
}

function writableMounts(roots: readonly string[], {readOnly, pinned, missing}: ProtectedPlaces): Mount[] {
  return [
    ...[...roots, ...pinned].map((path): Mount => ({path, kind: 'writable'})),
    ...readOnly.map((path): Mount => ({path, kind: 'read-only'})),
    ...missing.map(({path, content}): Mount => ({path, kind: content === undefined ? 'empty' : 'read-only'})),
  ];
}

function formatFlags({path, kind}: Mount): string[] {
  switch (kind) {
    case 'private':
    case 'empty':
    case 'hidden-directory':
      return ['--tmpfs', path];
    case 'shown':
    case 'read-only':
      return ['--ro-bind', path, path];
    case 'writable':
      return ['--bind', path, path];
    case 'hidden-file':
      return ['--ro-bind', '/dev/null', path];
  }
}

/** The workspace's folders that exist. */
export function existingRoots({root, extraRoots}: Omit<ConfineOptions, 'cwd'>): string[] {
  return [root, ...extraRoots].filter((path) => existsSync(path));
}

function depth(path: string): number {
  return path.split(sep).filter(Boolean).length;
}
