/**
 * Matches globs with relative paths. Ripgrep's own `--glob` does not select files here, because it would include files
 * that `.gitignore` excludes.
 */
import {Glob} from '../../core/util/glob.ts';

/**
 * Creates a glob. A pattern without a slash matches the name at any depth; one with a slash matches the path from its
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
