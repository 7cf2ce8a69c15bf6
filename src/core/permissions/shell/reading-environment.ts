/**
 * The environment for reading: commands that are proven to only read run in it. It does not contain what would make the
 * same words do more; the proof holds only there. What it cannot turn off is looked for in the settings of a repository.
 */
import {existsSync, readFileSync, statSync} from 'node:fs';
import path from 'node:path';
import type {Workspace} from '../../contract/permission.ts';
import {isInside} from '../../util/paths.ts';
import {getRoots} from '../files/file-zone.ts';
import {resolveLinks} from '../files/paths.ts';

/** Other variables can name settings, hooks or code that change what bash, git, ripgrep or a library does. */
const KEPT_VARIABLES =
  /^(?:HOME|USER|LOGNAME|SHELL|TERM|COLORTERM|NO_COLOR|COLUMNS|LINES|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|NODE_ENV|CI)$/;

/** Values for settings by which a repository makes git run programs, write, or read other repositories. */
const GIT_SETTINGS: readonly (readonly [string, string])[] = [
  ['core.fsmonitor', ''],
  ['core.hooksPath', '/dev/null'],
  ['core.pager', 'cat'],
  ['log.showSignature', 'false'],
  ['diff.ignoreSubmodules', 'dirty'],
  ['diff.submodule', 'short'],
  ['status.submoduleSummary', 'false'],
  ['submodule.recurse', 'false'],
  // A project may contain a folder that looks like a bare repository: git must not use that folder's settings.
  ['safe.bareRepository', 'explicit'],
];

/** @param env the environment of the workspace's other commands */
export function createReadingEnvironment(
  env: Readonly<Record<string, string>>,
  workspace: Workspace,
): Record<string, string> {
  // A project could bring a program `ls` of its own.
  const folders = splitPath(env.PATH ?? '').filter((folder) => isOutside(folder, getRoots(workspace)));
  return {
    ...Object.fromEntries(Object.entries(env).filter(([name]) => KEPT_VARIABLES.test(name))),
    PATH: folders.join(':') || '/usr/bin:/bin',
    PWD: workspace.cwd,
    GIT_OPTIONAL_LOCKS: '0',
    GIT_PAGER: 'cat',
    GIT_TERMINAL_PROMPT: '0',
    // Git does not fetch objects that are missing.
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

/** Whether no folder of this PATH lies in one of the roots, or depends on the current directory. */
export function isPathOutside(variable: string, roots: readonly string[]): boolean {
  return splitPath(variable).every((folder) => isOutside(folder, roots));
}

function splitPath(variable: string): string[] {
  return variable.split(':');
}

function isOutside(folder: string, roots: readonly string[]): boolean {
  return path.isAbsolute(folder) && !isInside(resolveLinks(folder, '/'), roots);
}

/** Settings that name a program, a folder elsewhere, or another file of settings; in every section. */
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
/** Settings that name programs, but which the environment for reading turns off. */
const TURNED_OFF = ['fsmonitor', 'hookspath', 'pager', 'sshcommand', 'askpass', 'helper', 'vcs', 'uploadpack'];
const INCLUDES = /\[\s*include(?:if)?\b/i;
/** What `git lfs install --local` writes. */
const LARGE_FILES = /^[ \t]*(?:clean|smudge|process)[ \t]*=[ \t]*git-lfs [\w-]+(?: --skip)?(?: -- %f)?[ \t]*$/gim;

/** Git does not write a larger file of settings. */
const MAX_SETTINGS_BYTES = 1024 * 1024;

/**
 * Whether the settings of a repository name programs that git may run while it only reads.
 * @param folder absolute, with links resolved: where git is started
 * @param inAgentEnvironment git runs in the environment of the agent, not in the one for reading
 * @returns what was found, in a few words; undefined when git runs no program because of the settings
 */
export function findNamedPrograms(folder: string, inAgentEnvironment: boolean): string | undefined {
  const repository = findRepository(folder);
  if (repository === undefined) return undefined;
  const names = inAgentEnvironment ? [...NAMES_PROGRAMS, ...TURNED_OFF] : NAMES_PROGRAMS;
  // The name of a setting is at the beginning of a line or directly behind its section. Git knows no escapes in it.
  const pattern = new RegExp(`(?:^|[\\n\\]])[ \\t]*(${names.join('|')})[ \\t]*(?:=|[#;\\r\\n]|$)`, 'i');
  try {
    for (const file of findSettingsFiles(repository)) {
      if (statSync(file).size > MAX_SETTINGS_BYTES) return `${file} is too large to be read`;
      const text = readFileSync(file, 'utf8').replace(LARGE_FILES, '');
      const name = INCLUDES.test(text) ? 'include' : pattern.exec(text)?.[1];
      if (name !== undefined) return `${file} sets ${name}`;
    }
  } catch {
    return `the settings of ${repository} cannot be read`;
  }
  if (!inAgentEnvironment) return undefined;
  return existsSync(path.join(repository, 'modules')) ? `${repository} has submodules` : undefined;
}

/** The nearest repository, from the folder upwards, as git looks for it. */
function findRepository(folder: string): string | undefined {
  for (let at = folder; ; at = path.dirname(at)) {
    const named = path.join(at, '.git');
    if (existsSync(named)) return statSync(named).isDirectory() ? named : readPointer(named, at);
    if (existsSync(path.join(at, 'HEAD')) && existsSync(path.join(at, 'objects'))) return at;
    if (path.dirname(at) === at) return undefined;
  }
}

/** A file `.git` contains the path of the repository. */
function readPointer(file: string, folder: string): string {
  const [, target = ''] = /^gitdir:\s*(.*?)\s*$/s.exec(readFileSync(file, 'utf8').slice(0, 10_000)) ?? [];
  return path.resolve(folder, target);
}

/**
 * @param folder absolute, with links resolved: where git is started
 * @returns where git finds its repository: the folder of its own, and the one that it shares with other worktrees
 */
export function findRepositoryFolders(folder: string): string[] {
  const repository = findRepository(folder);
  return repository === undefined ? [] : [repository, findSharedFolder(repository)];
}

function findSharedFolder(repository: string): string {
  const pointer = path.join(repository, 'commondir');
  return existsSync(pointer) ? path.resolve(repository, readFileSync(pointer, 'utf8').trim()) : repository;
}

function findSettingsFiles(repository: string): string[] {
  const common = findSharedFolder(repository);
  return [
    path.join(common, 'config'),
    path.join(common, 'config.worktree'),
    path.join(repository, 'config.worktree'),
  ].filter((file) => existsSync(file));
}
