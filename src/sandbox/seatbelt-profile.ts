/**
 * Writes the profile of a confined command on macOS, in the language of the kernel's sandbox. Everything is denied that
 * is not allowed. Of two rules about a path the later one wins. Paths that do not exist yet can be denied too.
 */
import {isInside} from '../core/util/paths.ts';
import type {HiddenPath} from './hidden-paths.ts';
import type {ProtectedPlaces} from './protected-places.ts';
import {MAC_FOLDERS} from './view/system-folders.ts';

export interface SeatbeltPlaces {
  readonly roots: readonly string[];
  /** Further places that may be read, even inside hidden ones. */
  readonly shown: readonly string[];
  readonly hidden: readonly HiddenPath[];
  /** The command's folder for temporary files, which it may read and write. */
  readonly temporary: string;
  /** Places that stay read-only in writable roots. Undefined when the roots are read-only. */
  readonly writable: ProtectedPlaces | undefined;
  /** Files that can be written. When present, nothing else in the roots can be. */
  readonly files?: readonly string[] | undefined;
}

/** Without these rules no program starts, or programs cannot find their user, the time or the number of processors. */
const BASE = [
  '(version 1)',
  '(deny default)',
  '(allow process-exec process-fork)',
  '(allow process-info* signal (target same-sandbox))',
  '(allow sysctl-read user-preference-read ipc-posix-sem ipc-posix-shm)',
  `(allow mach-lookup ${[
    'com.apple.system.opendirectoryd.libinfo',
    'com.apple.system.opendirectoryd.membership',
    'com.apple.system.notification_center',
    'com.apple.system.logger',
    'com.apple.logd',
    'com.apple.bsd.dirhelper',
  ]
    .map((name) => `(global-name ${quoted(name)})`)
    .join(' ')})`,
  // Metadata can be read everywhere, so that paths resolve. The rules below say which contents can be read.
  '(allow file-read-metadata file-test-existence)',
  '(allow file-read* (literal "/"))',
  '(allow file-write* file-ioctl (literal "/dev/null") (literal "/dev/zero") (literal "/dev/dtracehelper"))',
  '(allow file-read* file-ioctl (literal "/dev/random") (literal "/dev/urandom") (literal "/dev/tty"))',
];
const SYSTEM_KEYS = ['/Library/Keychains'];

interface ProfileRule {
  readonly path: string;
  readonly text: string;
}

/** @returns the profile for `sandbox-exec -p`. It does not allow any network. */
export function createSeatbeltProfile({roots, shown, hidden, temporary, writable, files}: SeatbeltPlaces): string {
  const rules: ProfileRule[] = [
    ...MAC_FOLDERS.map((path) => allow('file-read*', path)),
    ...SYSTEM_KEYS.map((path) => deny('file-read* file-write*', path)),
    ...[...roots, ...shown].map((path) => allow('file-read*', path)),
    ...(writable ? (files ?? roots).map((path) => allow('file-write*', path)) : []),
    ...hidden.map(({path}) => deny('file-read* file-write*', path)),
  ];
  // Put outer paths first, as for mounts. The sort keeps the order of paths with the same depth.
  rules.sort((a, b) => depth(a.path) - depth(b.path));
  return [
    ...BASE,
    ...rules.map(({text}) => text),
    `(allow file-read* file-write* ${subpath(temporary)})`,
    ...(writable ? protection(writable, roots) : []),
  ].join('\n');
}

/** Denies writing the protected places, and renaming or removing the folders above them, which would move them. */
function protection({readOnly, pinned, missing}: ProtectedPlaces, roots: readonly string[]): string[] {
  const places = [...readOnly, ...missing.map(({path}) => path)];
  const above = new Set([...roots, ...pinned, ...places.flatMap((place) => foldersAbove(place, roots))]);
  return [
    ...places.map((path) => `(deny file-write* ${subpath(path)})`),
    ...[...above].map((path) => `(deny file-write-unlink (literal ${quoted(path)}))`),
  ];
}

function foldersAbove(place: string, roots: readonly string[]): string[] {
  const folder = place.slice(0, place.lastIndexOf('/'));
  return isInside(folder, roots) ? [folder, ...foldersAbove(folder, roots)] : [];
}

function allow(what: string, path: string): ProfileRule {
  return {path, text: `(allow ${what} ${subpath(path)})`};
}

function deny(what: string, path: string): ProfileRule {
  return {path, text: `(deny ${what} ${subpath(path)})`};
}

function subpath(path: string): string {
  return `(subpath ${quoted(path)})`;
}

function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`;
}

function depth(path: string): number {
  return path.split('/').filter(Boolean).length;
}
