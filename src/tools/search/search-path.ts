/** Holds what the search tools share: the path to search, globs, and notes on how a search ended. */
import {realpath, stat} from 'node:fs/promises';
import type {ToolContext} from '../../core/contract/tool.ts';
import {getErrorCode, MiniCcError} from '../../core/util/errors.ts';
import {Glob} from '../../core/util/glob.ts';
import {isInside} from '../../core/util/paths.ts';
import {type RipgrepEnd, SEARCH_LIMIT_MS} from '../../core/util/ripgrep.ts';
import {absolutePath, archivedTranscript, assertPermitted, createNotFoundError} from '../files/model-paths.ts';

/** True when the search ended before everything was searched. */
export function isCut({ended}: RipgrepEnd): boolean {
  return ended === 'limit' || ended === 'abort';
}

/**
 * Returns the absolute path to search.
 * @throws MiniCcError `NOT_FOUND` with the paths that were probably meant; `NOT_A_FILE`; `NOT_PERMITTED` when a link
 * leads elsewhere than when the call was permitted
 */
export async function getSearchPath(path: string | undefined, context: ToolContext): Promise<string> {
  const named = absolutePath(path ?? '.', context.workspace);
  const archived = await archivedTranscript(named);
  const absolute = archived ?? named;
  try {
    const real = await realpath(absolute);
    if (archived === undefined && !isInside(real, context.places)) assertPermitted(real, context);
    const stats = await stat(absolute);
    if (stats.isFile() || stats.isDirectory()) return absolute;
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT' || getErrorCode(error) === 'ENOTDIR')
      throw await createNotFoundError(absolute, context.workspace);
    throw error;
  }
  // Reading a pipe or a device may never end.
  throw new MiniCcError('NOT_A_FILE', `${path} is neither a regular file nor a directory: it is not searched.`);
}

/** Returns lines for the end of a result, which say why the search ended early, or which part of it failed. */
export function formatSearchNotes({ended, exitCode, errors}: RipgrepEnd): string[] {
  if (ended === 'limit') {
    return [`(timed out after ${SEARCH_LIMIT_MS / 1000} s: there may be more; search a smaller part)`];
  }
  if (ended === 'abort') return ['interrupted'];
  if (exitCode !== 2) return [];
  const [first = '', ...more] = errors.trim().split('\n');
  return [`(not all could be searched: ${first}${more.length > 0 ? `, and ${more.length} more` : ''})`];
}

/**
 * Creates a glob. Ripgrep's own `--glob` does not select files here, because it would include files that `.gitignore`
 * excludes. A pattern without a slash matches the name at any depth; one with a slash matches the path from its
 * beginning. `[id]` is one of these characters, or a name with brackets.
 * @returns a glob for paths with `/`, without a leading `./`
 */
export function createPathGlob(pattern: string): Glob {
  const trimmed = pattern.replace(/^\.\//, '').replace(/\/$/, '/**');
  const whole = trimmed.includes('/') ? trimmed.replace(/^\//, '') : `**/${trimmed}`;
  return new Glob(whole, {braces: true, plainBrackets: true, openStars: true});
}

/** Splits a pattern into the directory with which it starts and the rest: `/a/b/*.ts` → `/a/b`, `/*.ts`. */
export function splitGlob(pattern: string): {base: string; rest: string} {
  const segments = pattern.split('/');
  const firstGlob = segments.findIndex((segment) => /[*?[{\\]/.test(segment));
  const at = firstGlob === -1 ? segments.length - 1 : firstGlob;
  const base = segments.slice(0, at).join('/');
  // Add the slash, because a name alone would match at any depth.
  const rest = segments.slice(at).join('/');
  return {base: base === '' && pattern.startsWith('/') ? '/' : base, rest: rest.includes('**') ? rest : `/${rest}`};
}
