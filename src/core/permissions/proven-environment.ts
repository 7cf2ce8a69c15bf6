/**
 * The environment of commands that run because they are proven to only read: what would make the same words do more is
 * not in it. The proof holds only there.
 */
import path from 'node:path';

/** Others can change what bash, git, ripgrep or a library does, by settings, hooks or code that they name. */
const KEPT =
  /^(?:HOME|USER|LOGNAME|SHELL|TERM|COLORTERM|NO_COLOR|COLUMNS|LINES|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|NODE_ENV|CI)$/;

/** Settings of a repository that have git run programs, write, or look into other repositories. */
const GIT_SETTINGS: readonly (readonly [string, string])[] = [
  ['core.fsmonitor', ''],
  ['core.hooksPath', '/dev/null'],
  ['core.pager', 'cat'],
  ['log.showSignature', 'false'],
  ['diff.ignoreSubmodules', 'dirty'],
  ['diff.submodule', 'short'],
  ['status.submoduleSummary', 'false'],
  ['submodule.recurse', 'false'],
  // A folder that looks like a repository of its own must not be taken for one: its settings came with the project.
  ['safe.bareRepository', 'explicit'],
];

/**
 * @param env what commands have otherwise.
 * @param cwd where the command runs, with links resolved.
 * @param roots folders from which no program is taken: a project could bring its own `ls`.
 */
export function provenEnvironment(
  env: Readonly<Record<string, string>>,
  cwd: string,
  roots: readonly string[],
): Record<string, string> {
  const isOutside = (folder: string) =>
    path.isAbsolute(folder) &&
    !roots.some((root) => path.resolve(folder) === root || path.resolve(folder).startsWith(`${root}/`));
  return {
    ...Object.fromEntries(Object.entries(env).filter(([name]) => KEPT.test(name))),
    PATH: (env.PATH ?? '').split(':').filter(isOutside).join(':') || '/usr/bin:/bin',
    PWD: cwd,
    GIT_OPTIONAL_LOCKS: '0',
    GIT_PAGER: 'cat',
    GIT_TERMINAL_PROMPT: '0',
    // Objects that are missing are not fetched.
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_CONFIG_COUNT: String(GIT_SETTINGS.length),
    ...Object.fromEntries(
      GIT_SETTINGS.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  };
}
