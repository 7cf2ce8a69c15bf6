/** What a confined command sees of the file system: mounts over a read-only root, the outer ones first. */
import {existsSync} from 'node:fs';
import {sep} from 'node:path';
import {isInside} from '../core/util/inside.ts';
import type {HiddenPath} from './hidden-paths.ts';
import type {ProtectedPlaces} from './protected-places.ts';
import type {ConfineOptions} from './sandbox.ts';

/** Replaced by empty ones: they hold sockets and other people's files. */
export const PRIVATE = ['/tmp', '/run'];

/** One mount over the read-only root. At equal paths the later kind in `ORDER` wins. */
interface Mount {
  readonly path: string;
  readonly kind: 'private' | 'shown' | 'writable' | 'kept' | 'empty' | 'hidden-directory' | 'hidden-file';
}
const ORDER: readonly Mount['kind'][] = [
  ...(['private', 'shown', 'writable', 'kept', 'empty', 'hidden-directory', 'hidden-file'] as const),
];

/** @returns flags of bwrap. @param writable what of the roots may not be written; absent: none of them may. */
export function mountFlags(
  options: ConfineOptions,
  hidden: readonly HiddenPath[],
  writable: ProtectedPlaces | undefined,
): string[] {
  const covered = [...PRIVATE, ...hidden.map(({path}) => path)];
  const roots = rootsOf(options);
  const seen = (options.seen ?? []).filter((path) => existsSync(path));
  const shown = writable ? seen : [...roots, ...seen];
  const mounts: Mount[] = [
    ...PRIVATE.map((path): Mount => ({path, kind: 'private'})),
    ...shown.filter((path) => isInside(path, covered)).map((path): Mount => ({path, kind: 'shown'})),
    ...(writable ? writableMounts(roots, writable) : []),
    ...hidden.map(({path, isDirectory}): Mount => ({path, kind: isDirectory ? 'hidden-directory' : 'hidden-file'})),
  ];
  // Outer ones first, so that a workspace inside a hidden directory is seen, and keys inside a workspace are not.
  mounts.sort((a, b) => depth(a.path) - depth(b.path) || ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
  const closed = mounts.filter(({path, kind}) => kind === 'hidden-directory' || kind === 'empty' || path === '/run');
  return [...mounts.flatMap(flagsOf), ...closed.flatMap(({path}) => ['--remount-ro', path])];
}

function writableMounts(roots: readonly string[], {kept, pinned, absent}: ProtectedPlaces): Mount[] {
  return [
    ...[...roots, ...pinned].map((path): Mount => ({path, kind: 'writable'})),
    ...kept.map((path): Mount => ({path, kind: 'kept'})),
    ...absent.map(({path, content}): Mount => ({path, kind: content === undefined ? 'empty' : 'kept'})),
  ];
}

function flagsOf({path, kind}: Mount): string[] {
  switch (kind) {
    case 'private':
    case 'empty':
    case 'hidden-directory':
      return ['--tmpfs', path];
    case 'shown':
    case 'kept':
      return ['--ro-bind', path, path];
    case 'writable':
      return ['--bind', path, path];
    case 'hidden-file':
      return ['--ro-bind', '/dev/null', path];
  }
}

/** Those that are there. */
export function rootsOf({root, extraRoots}: Omit<ConfineOptions, 'cwd'>): string[] {
  return [root, ...extraRoots].filter((path) => existsSync(path));
}

function depth(path: string): number {
  return path.split(sep).filter(Boolean).length;
}
