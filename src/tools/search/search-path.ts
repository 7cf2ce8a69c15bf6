/** Holds what the search tools share: the path to search, globs, and notes on how a search ended. */
import {lstat} from 'node:fs/promises';
import {basename, dirname} from 'node:path';
import type {ToolContext} from '../../core/contract/tool.ts';
import {ignoreMissing, MiniCcError} from '../../core/util/errors.ts';
import {withOpenFolder} from '../../core/util/files/open-folder.ts';
import {Glob} from '../../core/util/glob.ts';
import {
  getRipgrepPath,
  type RipgrepEnd,
  type RipgrepRun,
  runRipgrep,
  SEARCH_LIMIT_MS,
} from '../../core/util/ripgrep.ts';
import type {Sandbox} from '../../sandbox/index.ts';
import {absolutePath, archivedTranscript, createNotFoundError, getPermittedPlace} from '../files/model-paths.ts';

/** True when the search ended before everything was searched. */
export function isCut({ended}: RipgrepEnd): boolean {
  return ended === 'limit' || ended === 'abort';
}

interface SearchPath {
  /** Absolute, with links resolved. */
  readonly base: string;
  readonly isFolder: boolean;
}

/**
 * Returns the place to search, for which the call was permitted.
 * @throws MiniCcError `NOT_FOUND` with the paths that were probably meant; `NOT_A_FILE`; `LINK` when a link was put there
 * since the call was permitted
 */
export async function getSearchPath(path: string | undefined, context: ToolContext): Promise<SearchPath> {
  const place = await getPermittedPlace(context);
  const base = (await archivedTranscript(place)) ?? place;
  const stats = await withOpenFolder(dirname(base), (folder) =>
    folder.use(basename(base), (name) => lstat(name)),
  ).catch(ignoreMissing);
  if (!stats) throw await createNotFoundError(absolutePath(path ?? '.', context.workspace), context.workspace);
  // Reading a pipe or a device may never end.
  if (!stats.isFile() && !stats.isDirectory())
    throw new MiniCcError('NOT_A_FILE', `${path} is neither a regular file nor a directory: it is not searched.`);
  return {base, isFolder: stats.isDirectory()};
}

/** Runs a search of `base` as it was decided: in the read-only sandbox, which follows no link to what it hides. */
export async function runSearch(
  sandbox: Sandbox,
  base: string,
  run: Omit<RipgrepRun, 'confine'>,
  context: ToolContext,
): Promise<RipgrepEnd> {
  const {workspace, attempt} = context;
  if (attempt.launch === 'plain') return runRipgrep(run, context);
  const seen = [...(workspace.seen ?? []), base, dirname(await getRipgrepPath())];
  const {root, extraRoots, env} = workspace;
  const place = {cwd: run.cwd, root, extraRoots, env, seen, ...(attempt.masked && {masked: attempt.masked.paths})};
  return runRipgrep({...run, confine: (argv) => sandbox.confine('read-only', argv, place)}, context);
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
