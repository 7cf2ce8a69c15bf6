/**
 * The environment of commands that run because they are proven to only read: what would make the same words do more is
 * not in it. The proof holds only there.
 */
import {existsSync, readFileSync, statSync} from 'node:fs';
import path from 'node:path';
import type {Workspace} from '../../contract/access.ts';
import {isInside} from '../../util/paths.ts';
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

/** Each means a program, a place outside, or another file with more of them, wherever it stands. */
const NAMES_PROGRAMS = [
  'external',
  'command',
  'textconv',
  'clean',
  'smudge',
  'process',
  'program',
  'cmd',
  'worktree',
  'alternaterefscommand',
];
/** These the environment of proven commands turns off, see `reading-environment.ts`. */
const TURNED_OFF = ['fsmonitor', 'hookspath', 'pager', 'sshcommand', 'askpass', 'helper', 'vcs', 'uploadpack'];
const INCLUDES = /\[\s*include(?:if)?\b/i;
/** What `git lfs install --local` writes. */
const LARGE_FILES = /^[ \t]*(?:clean|smudge|process)[ \t]*=[ \t]*git-lfs [\w-]+(?: --skip)?(?: -- %f)?[ \t]*$/gim;

/** Bytes. A larger one was not written by git. */
const MOST_BYTES = 1024 * 1024;

/**
 * @param folder absolute, with links resolved, in which git is started.
 * @param isPlain git gets the user's environment, not that of proven commands.
 * @returns what is found, in a few words; undefined when git runs nothing by them.
 */
export function programsNamed(folder: string, isPlain: boolean): string | undefined {
  const found = repositoryOf(folder);
  if (found === undefined) return undefined;
  const names = isPlain ? [...NAMES_PROGRAMS, ...TURNED_OFF] : NAMES_PROGRAMS;
  // A name of a setting stands at the beginning of a line or behind its section; nothing in it can be escaped.
  const pattern = new RegExp(`(?:^|[\\n\\]])[ \\t]*(${names.join('|')})[ \\t]*(?:=|[#;\\r\\n]|$)`, 'i');
  try {
    for (const file of settingsOf(found)) {
      if (statSync(file).size > MOST_BYTES) return `${file} is too large to be read`;
      const text = readFileSync(file, 'utf8').replace(LARGE_FILES, '');
      const name = INCLUDES.test(text) ? 'include' : pattern.exec(text)?.[1];
      if (name !== undefined) return `${file} sets ${name}`;
    }
  } catch {
    return `the settings of ${found} cannot be read`;
  }
  return isPlain && existsSync(path.join(found, 'modules')) ? `${found} has submodules` : undefined;
}

/** Upwards from the folder, as git looks for it. */
function repositoryOf(folder: string): string | undefined {
  for (let at = folder; ; at = path.dirname(at)) {
    const named = path.join(at, '.git');
    if (existsSync(named)) return statSync(named).isDirectory() ? named : pointedTo(named, at);
    if (existsSync(path.join(at, 'HEAD')) && existsSync(path.join(at, 'objects'))) return at;
    if (path.dirname(at) === at) return undefined;
  }
}

/** A file `.git` says where the repository is. */
function pointedTo(file: string, folder: string): string {
  const [, where = ''] = /^gitdir:\s*(.*?)\s*$/s.exec(readFileSync(file, 'utf8').slice(0, 10_000)) ?? [];
  return path.resolve(folder, where);
}

function settingsOf(repository: string): string[] {
  const shared = path.join(repository, 'commondir');
  const common = existsSync(shared) ? path.resolve(repository, readFileSync(shared, 'utf8').trim()) : repository;
  return [
    path.join(common, 'config'),
    path.join(common, 'config.worktree'),
    path.join(repository, 'config.worktree'),
  ].filter((file) => existsSync(file));
}
