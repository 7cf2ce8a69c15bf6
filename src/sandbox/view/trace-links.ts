/** Follows the links of a path one by one, so that the sandbox can show the place and the links that lead to it. */
import {lstatSync, readlinkSync} from 'node:fs';
import path from 'node:path';

export interface Link {
  /** Path of the link. The folders above it are no links. */
  readonly path: string;
  /** Target as the link has it. */
  readonly target: string;
}

interface TracedPath {
  /** Path with links resolved. */
  readonly real: string;
  readonly links: readonly Link[];
}

/** The kernel has the same limit. */
const MAX_LINKS = 40;

/** @param given absolute @returns undefined when nothing is there, or it cannot be read. Never throws. */
export function traceLinks(given: string): TracedPath | undefined {
  const links: Link[] = [];
  let parts = split(given);
  let at = '/';
  try {
    for (let name = parts.shift(); name !== undefined; name = parts.shift()) {
      const next = name === '..' ? path.dirname(at) : path.join(at, name);
      if (name === '..' || !lstatSync(next).isSymbolicLink()) {
        at = next;
        continue;
      }
      const target = readlinkSync(next);
      links.push({path: next, target});
      if (links.length > MAX_LINKS) return undefined;
      parts = [...split(target), ...parts];
      if (path.isAbsolute(target)) at = '/';
    }
  } catch {
    return undefined;
  }
  return {real: at, links};
}

function split(given: string): string[] {
  return given.split('/').filter((part) => part !== '' && part !== '.');
}
