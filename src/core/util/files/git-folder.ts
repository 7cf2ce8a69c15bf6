/**
 * Reads repositories from their files as git does. It starts no git, writes nothing and throws nothing: a project's
 * `.git` may be hostile, broken or unreadable.
 */

import {lstatSync, realpathSync, statSync} from 'node:fs';
import path from 'node:path';
import {tryOr} from '../errors.ts';
import {readProjectFile} from './project-file.ts';

/**
 * Variables that name the repository in which mini-cc was started, e.g. by a git hook. Work in other repositories removes
 * them.
 */
export const REPOSITORY_VARIABLES: ReadonlySet<string> = new Set([
  'GIT_DIR',
  'GIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_PREFIX',
  'GIT_COMMON_DIR',
  'GIT_NAMESPACE',
  'GIT_OBJECT_DIRECTORY',
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
]);

export interface GitRepository {
  /** Folder that contains `.git`; for a bare repository the folder itself. */
  readonly top: string;
  /** `top/.git`, or for a bare repository `top`. */
  readonly entry: string;
  readonly kind: 'folder' | 'file' | 'bare';
  /** Git folder of this checkout. Git fails if it does not exist or is not one, see `isGitFolder`. */
  readonly folder: string;
  /** Git folder with settings, hooks, objects and refs, which linked worktrees share. */
  readonly common: string;
}

/** A `.git` that git would use or fail at, but which cannot be read here. */
interface UnreadableGit {
  readonly top: string;
  readonly entry: string;
  readonly kind: 'unreadable';
}

/** Larger files are neither settings nor pointers: git refuses larger `.git` files too. */
const MAX_BYTES = 1024 * 1024;
/** Code points that file systems of Apple ignore in names. */
const HFS_IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/**
 * Whether some file system treats the name as `.git`: in capitals, with invisible characters, with dots or blanks at
 * its end, or as the short name of Windows. Git refuses to commit such names.
 */
export function isGitName(name: string): boolean {
  const plain = name.replace(HFS_IGNORED, '').toLowerCase();
  return /^(?:\.git|git~\d)[. ]*(?::.*)?$/s.test(plain);
}

/** Finds the repository that git uses when it starts in the folder. @param folder absolute, with links resolved */
export function findRepository(folder: string): GitRepository | UnreadableGit | undefined {
  for (let at = folder; ; at = path.dirname(at)) {
    const found = readRepository(at);
    if (found !== undefined) return found;
    if (path.dirname(at) === at) return undefined;
  }
}

/** Finds the repository that git uses; undefined also for one that cannot be read. */
export function findReadableRepository(folder: string): GitRepository | undefined {
  const found = findRepository(folder);
  return found?.kind === 'unreadable' ? undefined : found;
}

/** Reads the repository with its top here: because of its `.git`, or because the folder is a bare repository. */
export function readRepository(top: string): GitRepository | UnreadableGit | undefined {
  const entry = path.join(top, '.git');
  try {
    const stat = statSync(entry, {throwIfNoEntry: false});
    if (stat?.isDirectory() && isGitFolder(entry)) return createRepository(top, entry, 'folder', entry);
    if (stat?.isFile()) {
      const target = readGitFile(entry);
      if (target === undefined) return {top, entry, kind: 'unreadable'};
      return createRepository(top, entry, 'file', target);
    }
  } catch {
    return {top, entry, kind: 'unreadable'};
  }
  return isGitFolder(top) ? createRepository(top, top, 'bare', top) : undefined;
}

function createRepository(top: string, entry: string, kind: GitRepository['kind'], folder: string): GitRepository {
  return {top, entry, kind, folder, common: findCommonFolder(folder)};
}

/**
 * Returns the absolute path that a file `.git` names; undefined for another file. Git removes line breaks at the end,
 * but no blanks.
 */
function readGitFile(file: string): string | undefined {
  const [, target] = /^gitdir: (.+?)[\r\n]*$/s.exec(readSmallFile(file) ?? '') ?? [];
  return target === undefined ? undefined : resolveReally(path.dirname(file), target);
}

/** Whether git treats the folder as a repository. */
export function isGitFolder(folder: string): boolean {
  // A HEAD that is a link may have no target yet.
  if (!exists(path.join(folder, 'HEAD'))) return false;
  const common = findCommonFolder(folder);
  return exists(path.join(common, 'objects')) && exists(path.join(common, 'refs'));
}

/** Returns the folder that `commondir` names, which has the settings and hooks of a linked worktree. */
function findCommonFolder(folder: string): string {
  const text = readSmallFile(path.join(folder, 'commondir'))?.replace(/[\r\n]+$/, '');
  return text ? resolveReally(folder, text) : folder;
}

/**
 * Returns the branch that is checked out, or the start of a commit's id, in one line; undefined outside of a
 * repository.
 */
export function readBranch(folder: string): string | undefined {
  const repository = findReadableRepository(folder);
  if (repository === undefined) return undefined;
  const [head] = readSmallFile(path.join(repository.folder, 'HEAD'))?.trim().split('\n', 1) ?? [];
  return head?.startsWith('ref: ') ? head.replace(/^ref: (?:refs\/heads\/)?/, '') : head?.slice(0, 8);
}

/** Returns the id of the commit that is checked out; undefined without one. */
export function readCommit(folder: string): string | undefined {
  const repository = findReadableRepository(folder);
  if (repository === undefined) return undefined;
  const head = readSmallFile(path.join(repository.folder, 'HEAD'))?.trim() ?? '';
  const [, ref] = /^ref: (refs\/[^\n]+)$/.exec(head) ?? [];
  if (ref === undefined || ref.split('/').includes('..')) return toCommit(head);
  const packed = () =>
    readSmallFile(path.join(repository.common, 'packed-refs'))
      ?.split('\n')
      .find((line) => line.endsWith(` ${ref}`))
      ?.split(' ')[0];
  return toCommit(readSmallFile(path.join(repository.common, ref))?.trim() ?? packed());
}

function toCommit(text: string | undefined): string | undefined {
  return text !== undefined && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text) ? text : undefined;
}

/**
 * Whether the git folder itself names this checkout: a linked worktree by `gitdir`, a submodule by `core.worktree`.
 * Without this check, a project's `.git` file could claim any repository of the user as its own.
 */
export function pointsBack({kind, top, entry, folder}: GitRepository): boolean {
  if (kind !== 'file') return !isLink(entry);
  const linked = readSmallFile(path.join(folder, 'gitdir'))?.replace(/[\r\n]+$/, '');
  if (linked) return isSame(resolveReally(folder, linked), entry);
  const settings = readSettings(path.join(folder, 'config'));
  const worktree = settings?.findLast(({key}) => key === 'core.worktree')?.value;
  return worktree ? isSame(resolveReally(folder, worktree), top) : false;
}

/** Lists the files of settings that git reads in the repository, whether they exist or not. */
export function getSettingsFiles({folder, common}: Pick<GitRepository, 'folder' | 'common'>): string[] {
  return [
    ...new Set([path.join(common, 'config'), ...[common, folder].map((each) => path.join(each, 'config.worktree'))]),
  ];
}

/** Lists the files that almost every command of git opens, whether they exist or not. A pipe there would stop git. */
export function getControlFiles({folder, common, ...repository}: GitRepository): string[] {
  const own = ['HEAD', 'index', 'commondir', 'gitdir'].map((name) => path.join(folder, name));
  const shared = [
    'packed-refs',
    'shallow',
    'info/exclude',
    'info/attributes',
    'info/grafts',
    'objects/info/alternates',
  ];
  return [
    ...new Set([
      ...own,
      ...shared.map((name) => path.join(common, name)),
      ...getSettingsFiles({folder, common}),
      ...['.gitattributes', '.gitmodules', '.mailmap'].map((name) => path.join(repository.top, name)),
    ]),
  ];
}

export interface GitSetting {
  /** `section.name` or `section.subsection.name`, or the name alone; section and name in lower case. */
  readonly key: string;
  /** Value of the setting; `true` for a name without `=`. */
  readonly value: string;
}

/**
 * Reads all settings of a file in their order, without those of included files; undefined when git could not read it
 * either.
 */
export function readSettings(file: string): readonly GitSetting[] | undefined {
  const text = readSmallFile(file);
  return text === undefined ? undefined : parseSettings(text);
}

/** Formats a setting for a file of settings, see git-config(1). */
export function formatSetting({key, value}: GitSetting): string {
  const [first, last] = [key.indexOf('.'), key.lastIndexOf('.')];
  const sub = first === last ? '' : ` ${quoteSetting(key.slice(first + 1, last))}`;
  return `[${key.slice(0, first)}${sub}]\n\t${key.slice(last + 1)} = ${quoteSetting(value)}\n`;
}

function quoteSetting(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\t', '\\t')}"`;
}

/**
 * Adds settings to an environment, after those that it has. Git prefers them to those of files.
 * @param settings pairs of a key and a value
 */
export function withGitSettings<E extends Readonly<Record<string, string | undefined>>>(
  env: E,
  settings: readonly (readonly [key: string, value: string])[],
): E {
  const first = Number(env.GIT_CONFIG_COUNT ?? 0) || 0;
  const entries = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${first + index}`, key],
    [`GIT_CONFIG_VALUE_${first + index}`, value],
  ]);
  return {...env, ...Object.fromEntries(entries), GIT_CONFIG_COUNT: String(first + settings.length)};
}

/** @returns undefined for a file that git calls bad */
export function parseSettings(text: string): readonly GitSetting[] | undefined {
  const source = text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n');
  const found: GitSetting[] = [];
  let section = '';
  for (let at = 0; at < source.length; ) {
    const match = (pattern: RegExp) => {
      pattern.lastIndex = at;
      return pattern.exec(source);
    };
    const blank = match(/[ \t\r\n]+|[#;][^\n]*/y);
    if (blank) {
      at += blank[0].length;
      continue;
    }
    const head = match(/\[([a-zA-Z0-9.-]+)(?:[ \t\r]+"((?:[^"\\\n]|\\[^\n])*)")?\]/y);
    if (head) {
      const [whole, name = '', sub] = head;
      section = `${name.toLowerCase()}${sub === undefined ? '' : `.${sub.replace(/\\(.)/g, '$1')}`}.`;
      at += whole.length;
      continue;
    }
    const name = match(/([a-zA-Z][a-zA-Z0-9-]*)[ \t]*(=|\n|$)/y);
    if (!name) return undefined;
    const key = section + name[1]!.toLowerCase();
    at += name[0].length;
    if (name[2] !== '=') {
      found.push({key, value: 'true'});
      continue;
    }
    const read = readValue(source, at);
    if (read === undefined) return undefined;
    found.push({key, value: read.value});
    at = read.end;
  }
  return found;
}

/** Reads a value. Quotes may begin and end anywhere in it, and a backslash before a line break continues it. */
function readValue(source: string, from: number): {readonly value: string; readonly end: number} | undefined {
  const escapes: Readonly<Record<string, string>> = {n: '\n', t: '\t', b: '\b', '\\': '\\', '"': '"', '\n': ''};
  let value = '';
  /** Length of the value without trailing blanks that are not quoted. */
  let kept = 0;
  let isQuoted = false;
  for (let at = from; ; at += 1) {
    const char = source[at];
    if (char === undefined || char === '\n') return isQuoted ? undefined : {value: value.slice(0, kept), end: at};
    if (!isQuoted && (char === '#' || char === ';')) {
      const end = source.indexOf('\n', at);
      return {value: value.slice(0, kept), end: end < 0 ? source.length : end};
    }
    if (char === '"') isQuoted = !isQuoted;
    else if (char === '\\') {
      at += 1;
      const escaped = escapes[source[at] ?? ''];
      if (escaped === undefined) return undefined;
      value += escaped;
    } else if (isQuoted || !/[ \t\r]/.test(char)) value += char;
    else {
      if (value !== '') value += char;
      continue;
    }
    kept = value.length;
  }
}

/**
 * Resolves a path as the system does: `a/../b` leads elsewhere than `b` if `a` is a link. Node's other functions
 * shorten it.
 */
function resolveReally(base: string, target: string): string {
  const place = path.isAbsolute(target) ? target : `${base}/${target}`;
  return tryOr(() => realpathSync.native(place), path.resolve(place));
}

/**
 * Returns undefined for a path that does not exist, cannot be read, is no file, or is too large for git. Never waits
 * for a pipe.
 */
export function readSmallFile(file: string, maxBytes = MAX_BYTES): string | undefined {
  return tryOr(() => readProjectFile(file, maxBytes).toString(), undefined);
}

function exists(file: string): boolean {
  return tryOr(() => lstatSync(file, {throwIfNoEntry: false}) !== undefined, false);
}

function isLink(file: string): boolean {
  return tryOr(() => lstatSync(file).isSymbolicLink(), false);
}

function isSame(one: string, other: string): boolean {
  return tryOr(() => realpathSync(one) === realpathSync(other), false);
}
