/** Resolves the links in a path, one by one as the kernel does. */
import {existsSync, lstatSync, readlinkSync, realpathSync} from 'node:fs';
import {homedir} from 'node:os';
import path from 'node:path';
import {getErrorCode, MiniCcError, tryOr} from '../../util/errors.ts';
import {isInside} from '../../util/paths.ts';

export interface Link {
  /** Path of the link. The folders above it are no links. */
  readonly path: string;
  /** Target as the link has it. */
  readonly target: string;
}

/** The Linux kernel follows at most this number of links in one path. */
const MAX_LINKS = 40;

/**
 * Returns the absolute path with links resolved: the file that a write would create or change, even behind a link to a
 * file that does not exist yet. It works step by step like the kernel: `..` behind a link goes up from the target of
 * the link.
 * @param target absolute, relative to `cwd`, or with `~`
 * @param links gets the links that were followed
 * @throws MiniCcError `LINKS` for more than 40 links; the file system's error for a path that cannot be looked at
 */
export function resolveLinks(target: string, cwd: string, links: Link[] = []): string {
  const full = expandHome(target);
  const given = path.isAbsolute(full) ? full : `${cwd}/${full}`;
  // Most paths exist and have no links, which is found fast.
  const plain = path.normalize(given).replace(/(?<=.)\/$/, '');
  if (existsSync(given) && tryOr(() => realpathSync.native(given), undefined) === plain) return plain;
  const steps = splitSteps(given);
  let at = '/';
  for (let step = steps.shift(); step !== undefined; step = steps.shift()) {
    if (isInside(at, ['/proc'])) {
      // Links in /proc lead elsewhere for each process that follows them.
      at = `${at}/${step}`;
      continue;
    }
    // `path.join` may go up for `..`. This is correct because the links up to here are resolved.
    const next = path.join(at, step);
    const link = readLink(next);
    if (link === undefined) {
      at = next;
      continue;
    }
    links.push({path: next, target: link});
    if (links.length > MAX_LINKS) throw new MiniCcError('LINKS', `${target}: too many links`);
    steps.unshift(...splitSteps(link));
    if (path.isAbsolute(link)) at = '/';
  }
  return at;
}

/** Through these links a process names its root, its working directory and its open files. */
const OF_PROCESS = /^\/proc\/(?:self|thread-self|\d+)(?:\/task\/\d+)?\/(?:root|cwd|fd\/\d+)(?=\/|$)/;

/**
 * Resolves a path that mini-cc itself opens, so that the links of processes lead where they do for it.
 * @throws as `resolveLinks`
 */
export function resolvePlace(given: string, cwd: string): string {
  let place = resolveLinks(given, cwd);
  for (let followed = 0; followed < MAX_LINKS; followed += 1) {
    const [link] = OF_PROCESS.exec(place) ?? [];
    const target = link === undefined ? undefined : readLink(link);
    if (link === undefined || !target?.startsWith('/')) return place;
    place = resolveLinks(path.posix.join(target, place.slice(link.length)), '/');
  }
  throw new MiniCcError('LINKS', `${given}: too many links`);
}

/** Returns the place of an access: the one that the decision found, or where its path leads now. @throws as `resolveLinks` */
export function getPlace({place, path: given}: {place?: string; path: string}, {cwd}: {readonly cwd: string}): string {
  return place ?? resolvePlace(given, cwd);
}

/**
 * Returns where an existing path leads, and the links on the way.
 * @param given absolute
 * @returns undefined when nothing is there, or it cannot be read. Never throws
 */
export function traceLinks(given: string): {readonly real: string; readonly links: readonly Link[]} | undefined {
  const links: Link[] = [];
  try {
    const real = resolveLinks(given, '/', links);
    return lstatSync(real, {throwIfNoEntry: false}) && {real, links};
  } catch {
    return undefined;
  }
}

/** Replaces a `~` at the beginning by the home directory. */
export function expandHome(target: string): string {
  return target === '~' || target.startsWith('~/') ? path.join(homedir(), target.slice(1)) : target;
}

function splitSteps(text: string): string[] {
  return text.split('/').filter((step) => step !== '' && step !== '.');
}

/** With `EINVAL` something else has taken the place of a link meanwhile. */
const NO_LINK = new Set(['ENOTDIR', 'ENOENT', 'EACCES', 'EPERM', 'EINVAL']);

/** Returns the target of a link; undefined for a path that is not a link or does not exist. */
function readLink(target: string): string | undefined {
  try {
    return lstatSync(target, {throwIfNoEntry: false})?.isSymbolicLink() ? readlinkSync(target) : undefined;
  } catch (error) {
    // Nothing exists below a file, and a call cannot touch what this process may not look at either.
    if (NO_LINK.has(getErrorCode(error) ?? '')) return undefined;
    throw error;
  }
}
