/** Holds what the search tools share: the path to search, and notes on how a search ended. */
import {realpath, stat} from 'node:fs/promises';
import type {ToolContext} from '../../core/contract/tool.ts';
import {getErrorCode, MiniCcError} from '../../core/util/errors.ts';
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
