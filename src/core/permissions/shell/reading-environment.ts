/**
 * The environment of commands that run because they are proven to only read: what would make the same words do more is
 * not in it. The proof holds only there.
 */
import path from 'node:path';
import type {Workspace} from '../../contract/access.ts';
import {isInside} from '../../util/inside.ts';
import {rootsOf} from '../files/file-zone.ts';
import {resolveLinks} from '../files/paths.ts';

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

/** @param env what the commands of that workspace have otherwise. */
export function provenEnvironment(env: Readonly<Record<string, string>>, workspace: Workspace): Record<string, string> {
  // A project could bring its own `ls`.
  const folders = foldersOf(env.PATH ?? '').filter((folder) => isApart(folder, rootsOf(workspace)));
  return {
    ...Object.fromEntries(Object.entries(env).filter(([name]) => KEPT.test(name))),
    PATH: folders.join(':') || '/usr/bin:/bin',
    PWD: workspace.cwd,
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

/** No program comes from one of the roots, or from wherever the command runs. */
export function isCleanPath(variable: string, roots: readonly string[]): boolean {
  return foldersOf(variable).every((folder) => isApart(folder, roots));
}

function foldersOf(variable: string): string[] {
  return variable.split(':');
}

function isApart(folder: string, roots: readonly string[]): boolean {
  return path.isAbsolute(folder) && !isInside(resolveLinks(folder, '/'), roots);
}
