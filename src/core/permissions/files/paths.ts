/** Where a path really leads, and which places are special. */
import {lstatSync, readlinkSync} from 'node:fs';
import {homedir} from 'node:os';
import path from 'node:path';
import {getErrorCode, MiniCcError} from '../../util/errors.ts';
import {isInside} from '../../util/paths.ts';

/** Links beyond which a path goes round in circles, as in the kernel. */
const MOST_LINKS = 40;

/**
 * Absolute, with links resolved, also one that leads to nothing yet: what a write would really make. Step by step like
 * the kernel: `..` behind a link leads up from where the link leads.
 * @throws MiniCcError `LINKS` for links that go round in circles; the file system's error for what cannot be looked at.
 */
export function resolveLinks(target: string, cwd: string): string {
  const full = homePath(target);
  const steps = stepsOf(path.isAbsolute(full) ? full : `${cwd}/${full}`);
  let at = '/';
  let links = 0;
  for (let step = steps.shift(); step !== undefined; step = steps.shift()) {
    if (isInside(at, ['/proc'])) {
      // Its links lead elsewhere for every process that follows them.
      at = `${at}/${step}`;
      continue;
    }
    if (step === '..') {
      at = path.dirname(at);
      continue;
    }
    const next = path.join(at, step);
    const link = linkAt(next);
    if (link === undefined) {
      at = next;
      continue;
    }
    links += 1;
    if (links > MOST_LINKS) throw new MiniCcError('LINKS', `${target}: too many links`);
    steps.unshift(...stepsOf(link));
    if (path.isAbsolute(link)) at = '/';
  }
  return at;
}

/** With the home directory in place of a `~` at the beginning. */
export function homePath(target: string): string {
  return target === '~' || target.startsWith('~/') ? path.join(homedir(), target.slice(1)) : target;
}

function stepsOf(text: string): string[] {
  return text.split('/').filter((step) => step !== '' && step !== '.');
}

const UNSEEN = new Set(['ENOTDIR', 'ENOENT', 'EACCES', 'EPERM']);

/** Where the link leads; undefined for what is no link or not there. */
function linkAt(place: string): string | undefined {
  try {
    return lstatSync(place, {throwIfNoEntry: false})?.isSymbolicLink() ? readlinkSync(place) : undefined;
  } catch (error) {
    // Below a file there is nothing, and what may not be looked at may not be touched either.
    if (UNSEEN.has(getErrorCode(error) ?? '')) return undefined;
    throw error;
  }
}
