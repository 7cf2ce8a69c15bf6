/** Decides which files a confined command sees: mounts on an empty root, outer ones first. */
import {dirname, sep} from 'node:path';
import {isInside} from '../core/util/paths.ts';
import type {ProtectedPlaces} from './protected-places.ts';
import type {SystemFolders} from './view/system-folders.ts';
import type {View} from './view/view.ts';

/**
 * This folder is empty and writable, and is removed with the command. The real one contains sockets and files of other
 * users.
 */
const PRIVATE_FOLDER = '/tmp';
/** When the temporary folder has more entries, it is mounted read-only as a whole and not entry by entry. */
const MAX_TEMPORARY = 40;

/** When two mounts have the same path, the later kind in `ORDER` wins. */
interface Mount {
  readonly path: string;
  readonly kind: Kind;
  /** Target of a link. */
  readonly target?: string;
}
const ORDER = [
  'folder',
  'link',
  'proc',
  'dev',
  'private',
  'system',
  'temporary',
  'shown',
  'writable',
  'pinned',
  'read-only',
  'empty',
  'hidden-directory',
  'hidden-file',
] as const;
type Kind = (typeof ORDER)[number];
const VISIBLE: ReadonlySet<Kind> = new Set(['system', 'shown', 'writable', 'pinned', 'read-only']);

export interface MountPlan {
  readonly system: SystemFolders;
  readonly view: View;
  /** Absolute, links resolved. */
  readonly home: string;
  /**
   * The session's folder for temporary files. A read-only command sees its entries; what the command writes there is
   * lost.
   */
  readonly temporary: {readonly path: string; readonly names: readonly string[]};
  /** Places that stay read-only in writable roots. Undefined when the roots are read-only. */
  readonly writable: ProtectedPlaces | undefined;
  /** Files that can be written. When present, nothing else in the roots can be. */
  readonly files?: readonly string[] | undefined;
}

export class Mounts {
  readonly #mounts: Mount[] = [];

  constructor(plan: MountPlan) {
    const candidates = listCandidates(plan);
    const depths = new Map(candidates.map(({path}) => [path, depth(path)]));
    // Put outer mounts first, so that a workspace inside a hidden directory is visible, and keys inside a workspace are
    // hidden.
    candidates.sort(
      (a, b) => depths.get(a.path)! - depths.get(b.path)! || ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind),
    );
    for (const mount of candidates) if (this.#isNeeded(mount)) this.#mounts.push(mount);
  }

  /**
   * Returns the flags for bwrap. For root `/proc` becomes read-only too, because root owns the kernel's settings in it.
   */
  getFlags(isRoot: boolean): string[] {
    const closed = this.#mounts.filter(({kind}) => kind === 'hidden-directory' || kind === 'empty');
    const isBound = this.#mounts.some(({path, kind}) => path === '/' && kind !== 'folder');
    const last = [...closed.map(({path}) => path), ...(isRoot ? ['/proc'] : []), ...(isBound ? [] : ['/'])];
    return [
      ...this.#mounts.flatMap((mount) => this.#formatFlags(mount)),
      ...last.flatMap((path) => ['--remount-ro', path]),
    ];
  }

  isVisible(place: string): boolean {
    const {kind} = this.#getInnermost(place) ?? {};
    return (kind !== undefined && VISIBLE.has(kind)) || SAME_EVERYWHERE.test(place);
  }

  /** Whether the next command finds this folder too, perhaps without its content. */
  hasFolder(folder: string): boolean {
    return this.isVisible(folder) || this.#mounts.some(({path, kind}) => kind !== 'link' && isInside(path, [folder]));
  }

  #isNeeded({path, kind}: Mount): boolean {
    const around = this.#getInnermost(path)?.kind;
    const isVisible = around !== undefined && VISIBLE.has(around);
    switch (kind) {
      case 'folder':
      case 'link':
      case 'shown':
        return !isVisible;
      case 'pinned':
      case 'read-only':
      case 'empty':
      case 'hidden-directory':
      case 'hidden-file':
        return isVisible;
      default:
        return true;
    }
  }

  /**
   * Returns the innermost mount around the path, which may be at the path itself. When two mounts are at one path, the
   * later one counts.
   */
  #getInnermost(path: string): Mount | undefined {
    return this.#mounts.findLast((mount) => isInside(path, [mount.path]));
  }

  #formatFlags({path, kind, target = ''}: Mount): string[] {
    switch (kind) {
      case 'folder':
        return ['--dir', path];
      case 'link':
        return ['--symlink', target, path];
      case 'proc':
        return ['--proc', path];
      case 'dev':
        return ['--dev', path];
      case 'temporary':
        return this.#getInnermost(dirname(path))?.kind === 'private' ? ['--dir', path] : ['--tmpfs', path];
      case 'private':
      case 'empty':
      case 'hidden-directory':
        return ['--tmpfs', path];
      case 'system':
      case 'read-only':
        return ['--ro-bind', path, path];
      case 'shown':
        // The place may have been removed since it was found.
        return ['--ro-bind-try', path, path];
      case 'writable':
      case 'pinned':
        return ['--bind', path, path];
      case 'hidden-file':
        return ['--ro-bind', '/dev/null', path];
    }
  }
}

/** Files in the new `/dev` and `/proc` that have the same content inside and outside. */
const SAME_EVERYWHERE =
  /^\/(?:dev\/(?:null|zero|full|random|urandom|tty|stdin|stdout|stderr)|proc\/(?:cpuinfo|meminfo|version|loadavg|uptime|stat|filesystems))$/;

function listCandidates({system, view, home, temporary, writable, files}: MountPlan): Mount[] {
  const isWhole = temporary.names.length > MAX_TEMPORARY;
  return [
    ...at('proc', ['/proc']),
    ...at('dev', ['/dev']),
    ...at('private', [PRIVATE_FOLDER]),
    ...at('folder', ['/run', '/var/tmp', home]),
    ...at('system', system.folders),
    ...[...system.links, ...view.links].map((link): Mount => ({...link, kind: 'link'})),
    ...at('shown', [...view.shown, ...(view.gitSettings === '/dev/null' ? [] : [view.gitSettings])]),
    ...at(writable ? 'writable' : isWhole ? 'shown' : 'temporary', [temporary.path]),
    ...at('shown', writable ? [] : temporary.names.map((name) => `${temporary.path}/${name}`)),
    ...at(writable && !files ? 'writable' : 'shown', view.roots),
    ...at('writable', writable && files ? files : []),
    ...(writable && !files ? listProtected(writable) : []),
    // Pin the folders above the session's folder, or a command could move it together with a folder around it.
    ...at('pinned', writable && !files ? foldersAbove(dirname(temporary.path), view.roots) : []),
    ...[...view.hidden, ...view.masked].map(
      ({path, isDirectory}): Mount => ({path, kind: isDirectory ? 'hidden-directory' : 'hidden-file'}),
    ),
  ];
}

function at(kind: Kind, paths: readonly string[]): Mount[] {
  return paths.map((path) => ({path, kind}));
}

function listProtected({readOnly, pinned, missing}: ProtectedPlaces): Mount[] {
  return [
    ...at('pinned', pinned),
    ...at('read-only', readOnly),
    ...missing.map(({path, content}): Mount => ({path, kind: content === undefined ? 'empty' : 'read-only'})),
  ];
}

/** Returns the folders between a place and the root that contains it. */
function foldersAbove(place: string, roots: readonly string[]): string[] {
  const folder = dirname(place);
  return isInside(folder, roots) && !roots.includes(folder) ? [folder, ...foldersAbove(folder, roots)] : [];
}

/** Counts the names in a path. */
export function depth(path: string): number {
  return path.split(sep).filter(Boolean).length;
}
