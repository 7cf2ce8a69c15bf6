/** Lists the folders that agents are read from, and the files in them. */
import {type BigIntStats, type Dirent, lstatSync, statSync} from 'node:fs';
import path from 'node:path';
import {isRead, type UserPlaces} from '../config/layers.ts';
import type {Plugin} from '../core/contract/plugin.ts';
import {getErrorCode, getErrorMessage, tryOr} from '../core/util/errors.ts';
import {
  listProjectFolder,
  MAX_DEFINITIONS,
  MAX_DEFINITIONS_BYTES,
  MAX_FOLDER_DEPTH,
} from '../core/util/files/project-file.ts';
import {findLinkOut, listProjectFolders} from '../core/util/paths.ts';
import {type Problem, ProblemList, START} from '../core/util/problem.ts';

export type FileSource = 'project' | 'user' | 'claude-project' | 'claude-user' | 'plugin';

export interface AgentLocations extends UserPlaces {
  /** Plugins that are in use. */
  readonly plugins?: readonly Pick<Plugin, 'name' | 'agents'>[];
}

interface AgentFolder {
  readonly source: FileSource;
  /** A folder; of a plugin also a file. */
  readonly path: string;
  /** Present in a plugin: its agents are named `PLUGIN:NAME`. */
  readonly plugin?: string;
}

/**
 * Lists the folders in order of precedence: an agent of an earlier folder hides one with the same name in a later
 * folder.
 */
export function listAgentFolders({cwd, home, miniCcHome, sources, plugins = []}: AgentLocations): AgentFolder[] {
  const user = path.join(miniCcHome, 'agents');
  const claudeUser = path.join(home, '.claude', 'agents');
  const project = path.join(cwd, '.mini-cc', 'agents');
  const claudeProject = path.join(cwd, '.claude', 'agents');
  // When mini-cc starts in the home directory, the project's folders are the user's.
  const all: AgentFolder[] = [
    ...(isSameFolder(project, user) ? [] : [{source: 'project', path: project} as const]),
    {source: 'user', path: user},
    ...(isSameFolder(claudeProject, claudeUser) ? [] : [{source: 'claude-project', path: claudeProject} as const]),
    {source: 'claude-user', path: claudeUser},
  ];
  const ofPlugins = plugins.flatMap(({name, agents}) =>
    agents.map((each): AgentFolder => ({source: 'plugin', path: each, plugin: name})),
  );
  return [...all.filter(({source}) => isRead(isProjects(source) ? 'project' : 'user', sources)), ...ofPlugins];
}

export function isClaude(source: FileSource): boolean {
  return source === 'claude-project' || source === 'claude-user' || source === 'plugin';
}

/** Says whether the project brings the files, and not the user. */
export function isProjects(source: FileSource): boolean {
  return source === 'project' || source === 'claude-project';
}

export interface ListedFile {
  readonly folder: AgentFolder;
  readonly file: string;
  /** Text that differs after a change of the file, as far as the clock of the file system shows it. */
  readonly stamp: string;
  /** Milliseconds since the epoch. */
  readonly changedAt: number;
  /** Whether it may be a link to a file elsewhere. */
  readonly isLink: boolean;
}

interface FolderListing {
  readonly files: readonly ListedFile[];
  /** The folder and its subfolders that are read too. */
  readonly folders: readonly string[];
  readonly problems: readonly Problem[];
}

/** Lists files in the order of their paths. A folder that does not exist is empty. Never throws. */
export function listAgentFiles(folder: AgentFolder): FolderListing {
  const files: ListedFile[] = [];
  const folders: string[] = [];
  const problems: Problem[] = [];
  // This check saves time, because each turn asks for the files and most of the four folders do not exist.
  if (tryOr(() => lstatSync(folder.path, {throwIfNoEntry: false}), null) === undefined)
    return {files, folders, problems};
  const [root] = isProjects(folder.source) ? listProjectFolders(path.resolve(folder.path, '../..')) : [];
  const report = (file: string, message: string, rule = 'not-read') => {
    const list = new ProblemList(file);
    list.warn(rule, START, message);
    problems.push(...list.all);
  };
  const isFollowed = (file: string): boolean => {
    const target = root !== undefined && statFollowingLinks(file) ? findLinkOut(file, root) : undefined;
    if (target !== undefined) report(file, `is a link out of the project, to ${target}: it is not followed`, SKIPPED);
    return target === undefined;
  };
  let bytes = 0;
  let isCut = false;
  const visit = (directory: string, depth: number): void => {
    const entries = readEntries(directory, problems);
    if (entries === undefined) return;
    folders.push(directory);
    for (const entry of entries) {
      if (files.length >= MAX_DEFINITIONS || folders.length >= MAX_DEFINITIONS || bytes > MAX_DEFINITIONS_BYTES) {
        isCut = true;
        return;
      }
      const file = path.join(directory, entry.name);
      const kind = classifyEntry(entry, folder.source);
      if (kind === 'agent') {
        if (!isFollowed(file)) continue;
        const {size, ...stamp} = getStamp(file);
        bytes += size;
        files.push({folder, file, ...stamp, isLink: entry.isSymbolicLink()});
      } else if (kind === 'folder' && depth < MAX_FOLDER_DEPTH) visit(file, depth + 1);
      else if (kind !== 'folder' && kind !== undefined) report(file, kind);
    }
  };
  if (folder.plugin !== undefined && folder.path.endsWith('.md')) {
    files.push({folder, file: folder.path, ...getStamp(folder.path), isLink: true});
  } else if (isFollowed(folder.path)) visit(folder.path, 0);
  if (isCut) report(folder.path, TOO_MANY, SKIPPED);
  return {files, folders, problems};
}

/** Rule of problems about files of which nothing is read. They are shown at the start. */
export const SKIPPED = 'skipped';
const TOO_MANY = `has more than ${MAX_DEFINITIONS} definitions or ${MAX_DEFINITIONS_BYTES / 1024 / 1024} MB of them: the others are not read`;

/** Extensions of files that a person may believe to be definitions. */
const LOOKALIKE = /\.(?:json|jsonc|json5|ya?ml|toml|md|markdown)$/i;
const README_FILE = /^(?:README|CHANGELOG|LICENSE)\b/i;

/** Says how to treat an entry. Any other text is a warning about it; undefined means that it is skipped. */
function classifyEntry(entry: Dirent, source: FileSource): 'agent' | 'folder' | (string & {}) | undefined {
  // Hidden files are skipped. Editors put some of them beside an open file.
  if (entry.name.startsWith('.')) return undefined;
  const ending = isClaude(source) ? '.md' : '.json';
  if (entry.name.endsWith(ending)) return 'agent';
  if (isClaude(source)) {
    if (entry.isDirectory()) return 'folder';
    return entry.isSymbolicLink() &&
      (statFollowingLinks(path.join(entry.parentPath, entry.name))?.isDirectory() ?? false)
      ? 'is a link to a folder: links to folders are not followed'
      : undefined;
  }
  if (entry.isDirectory()) return 'is a folder: agent files are not read from subfolders';
  if (LOOKALIKE.test(entry.name) && !README_FILE.test(entry.name)) {
    return 'is not read: the name of an agent file ends in .json';
  }
  return undefined;
}

function readEntries(directory: string, problems: Problem[]): readonly Dirent[] | undefined {
  try {
    return listProjectFolder(directory).entries;
  } catch (error) {
    const code = getErrorCode(error);
    if (code === 'ENOENT') return undefined;
    const list = new ProblemList(directory);
    if (code === 'ENOTDIR') list.error('unreadable', START, 'is not a folder');
    else if (code === 'EACCES') list.error('unreadable', START, 'this folder cannot be read: permission denied');
    else list.error('unreadable', START, `this folder cannot be read: ${getErrorMessage(error)}`);
    problems.push(...list.all);
    return undefined;
  }
}

function getStamp(file: string): {stamp: string; changedAt: number; size: number} {
  const stat = statFollowingLinks(file);
  if (stat === undefined) return {stamp: 'unreadable', changedAt: 0, size: 0};
  const {mtimeNs, ctimeNs, size, ino, mode} = stat;
  return {
    stamp: `${mtimeNs} ${ctimeNs} ${size} ${ino} ${mode}`,
    changedAt: Number(mtimeNs / 1_000_000n),
    size: Number(size),
  };
}

/** Returns undefined for a file that does not exist or cannot be read, and for a broken or circular link. */
function statFollowingLinks(file: string): BigIntStats | undefined {
  // Reading the file meets the same error and reports it.
  return tryOr(() => statSync(file, {bigint: true}), undefined);
}

/** Returns false when one of them does not exist. */
function isSameFolder(a: string, b: string): boolean {
  const [one, other] = [statFollowingLinks(a), statFollowingLinks(b)];
  return one !== undefined && one.ino === other?.ino && one.dev === other.dev;
}
