/**
 * Globs over relative paths: `*`, `**`, `?`, `[a-z]`, `[!a]`, `{a,b}`, `\` to escape. Ripgrep's own `--glob` is not
 * used to select files, because there it includes files that `.gitignore` excludes.
 */

/**
 * A pattern without a slash matches the name at any depth; one with a slash matches the path from its beginning.
 * @returns a test for paths with `/`, without a leading `./`.
 */
export function createGlobMatcher(pattern: string): (path: string) => boolean {
  const trimmed = pattern.replace(/^\.\//, '').replace(/\/$/, '/**');
  const isName = !trimmed.includes('/');
  const source = translate(trimmed.replace(/^\//, ''));
  const whole = new RegExp(`^${isName ? '(?:.*/)?' : ''}${source}$`, 's');
  return (path) => whole.test(path);
}

/** Splits a pattern into the directory that it starts with and the rest: `/a/b/*.ts` → `/a/b`, `/*.ts`. */
export function splitGlob(pattern: string): {base: string; rest: string} {
  const segments = pattern.split('/');
  const firstGlob = segments.findIndex((segment) => /[*?[{\\]/.test(segment));
  const at = firstGlob === -1 ? segments.length - 1 : firstGlob;
  const base = segments.slice(0, at).join('/');
  // Without the slash a name alone would match at any depth.
  const rest = segments.slice(at).join('/');
  return {base: base === '' && pattern.startsWith('/') ? '/' : base, rest: rest.includes('**') ? rest : `/${rest}`};
}

function translate(glob: string): string {
  let source = '';
  let braces = 0;
  for (let at = 0; at < glob.length; at += 1) {
    const character = glob[at] as string;
    const rest = glob.slice(at);
    const stars = /^\*+/.exec(rest)?.[0].length ?? 0;
    if (stars >= 2 && isSegmentStart(glob, at)) {
      const slash = glob[at + stars] === '/';
      source += slash ? '(?:[^/]+/)*' : '.*';
      at += slash ? stars : stars - 1;
    } else if (stars > 0) {
      source += '[^/]*';
      at += stars - 1;
    } else if (character === '?') {
      source += '[^/]';
    } else if (character === '[') {
      const set = /^\[([!^]?)(\]?[^\]]*)\]/.exec(rest);
      source += set ? `[${set[1] ? '^/' : ''}${(set[2] as string).replace(/[\\[\]^]/g, '\\$&')}]` : '\\[';
      at += set ? set[0].length - 1 : 0;
    } else if (character === '{' && hasClosingBrace(rest)) {
      source += '(?:';
      braces += 1;
    } else if (character === '}' && braces > 0) {
      source += ')';
      braces -= 1;
    } else if (character === ',' && braces > 0) {
      source += '|';
    } else if (character === '\\' && at + 1 < glob.length) {
      at += 1;
      source += escapeForRegExp(glob[at] as string);
    } else {
      source += escapeForRegExp(character);
    }
  }
  return source;
}

/** `**` matches across directories only at the start of a segment; elsewhere it is a `*`. */
function isSegmentStart(glob: string, at: number): boolean {
  return at === 0 || '/{,'.includes(glob[at - 1] as string);
}

function hasClosingBrace(rest: string): boolean {
  let open = 0;
  for (const character of rest) {
    if (character === '{') open += 1;
    if (character === '}') open -= 1;
    if (open === 0) return true;
  }
  return false;
}

function escapeForRegExp(character: string): string {
  return /[\\^$.*+?()[\]{}|/]/.test(character) ? `\\${character}` : character;
}
