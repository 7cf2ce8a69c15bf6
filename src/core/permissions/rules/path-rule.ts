/** Which files a rule is about: patterns as in .gitignore. */
import {homedir} from 'node:os';
import path from 'node:path';
import ignore from 'ignore';
import type {RuleKind} from './rule.ts';

/** @param targets absolute: the path as it was given and where its links lead. */
export type PathMatcher = (targets: readonly string[]) => boolean;

/**
 * `src/**`, `*.env`: from the workspace's root. `/x`: at the root. `//x`: absolute. `~/x`: in the home directory.
 * @param root of the workspace, with links resolved.
 * @returns for what is forbidden or asked, whether one of the targets matches, in any case of letters; for what is
 * allowed, whether all do, exactly.
 */
export function pathMatcher(about: string, kind: RuleKind, root: string): PathMatcher {
  const {base, pattern} = placeOf(about, root);
  const patterns = ignore({ignorecase: kind !== 'allow', allowRelativePaths: false}).add({pattern});
  const matches = (target: string) => {
    const relative = path.relative(base, target);
    if (relative === '') return /^\/?\*{1,2}$/.test(pattern);
    if (relative === '..' || relative.startsWith('../') || path.isAbsolute(relative)) return false;
    return patterns.ignores(relative);
  };
  return (targets) => (kind === 'allow' ? targets.every(matches) : targets.some(matches));
}

function placeOf(about: string, root: string): {base: string; pattern: string} {
  if (about.startsWith('//')) return {base: '/', pattern: about.slice(1)};
  if (about === '~' || about.startsWith('~/')) return {base: homedir(), pattern: about.slice(1) || '/**'};
  if (about.startsWith('./')) return {base: root, pattern: about.slice(1)};
  if (about === '..' || about.startsWith('../')) return {base: '/', pattern: path.resolve(root, about)};
  return {base: root, pattern: about};
}

/** A pattern that matches this very path. */
export function exactly(place: string): string {
  return place.replace(/[\\*?[\]!# ]/g, '\\$&');
}
