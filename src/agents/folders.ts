/** The four folders that agents are read from, and the files in them. */
import {type BigIntStats, type Dirent, readdirSync, realpathSync, statSync} from 'node:fs';
import path from 'node:path';
import {messageOf} from '../core/util/errors.ts';
import {codeOf} from '../core/util/file-errors.ts';
import {type Problem, ProblemList, START} from '../core/util/problem.ts';

export type FileSource = 'project' | 'user' | 'claude-project' | 'claude-user';

export interface AgentPlaces {
  readonly cwd: string;
  /** The user's home, with `.claude` in it. */
  readonly home: string;
  /** `~/.mini-cc`, or what `MINI_CC_HOME` names. */
  readonly miniCcHome: string;
}

export interface AgentFolder {
  readonly source: FileSource;
  readonly path: string;
}

/** Those above hide what has the same name below. */
export function agentFolders({cwd, home, miniCcHome}: AgentPlaces): AgentFolder[] {
  const user = path.join(miniCcHome, 'agents');
  const claudeUser = path.join(home, '.claude', 'agents');
  const project = path.join(cwd, '.mini-cc', 'agents');
  const claudeProject = path.join(cwd, '.claude', 'agents');
  // Started in the home directory, the folders of the project are those of the user.
  return [
    ...(sameFolder(project, user) ? [] : [{source: 'project', path: project} as const]),
    {source: 'user', path: user},
    ...(sameFolder(claudeProject, claudeUser) ? [] : [{source: 'claude-project', path: claudeProject} as const]),
    {source: 'claude-user', path: claudeUser},
  ];
}

export function isClaude(source: FileSource): boolean {
  return source === 'claude-project' || source === 'claude-user';
}

export interface ListedFile {
  readonly folder: AgentFolder;
  readonly file: string;
  /** Changes whenever the file does, within what the file system's clock can tell. */
  readonly stamp: string;
  /** Milliseconds since 1970. */
  readonly changedAt: number;
}

export interface Listing {
  readonly files: readonly ListedFile[];
  /** The folder and those in it that are read too. */
  readonly folders: readonly string[];
  readonly problems: readonly Problem[];
}

/** Files in the order of their paths. A folder that is not there is an empty one. Never throws. */
export function listAgentFiles(folder: AgentFolder): Listing {
  const files: ListedFile[] = [];
  const folders: string[] = [];
  const problems: Problem[] = [];
  const visit = (directory: string, depth: number): void => {
    const entries = entriesOf(directory, problems);
    if (entries === undefined) return;
    folders.push(directory);
    for (const entry of entries) {
      const file = path.join(directory, entry.name);
      const kind = kindOf(entry, folder.source);
      if (kind === 'agent') files.push({folder, file, ...stampOf(file)});
      else if (kind === 'folder' && depth < MAX_DEPTH) visit(file, depth + 1);
      else if (kind !== 'folder' && kind !== undefined) warn(file, kind, problems);
    }
  };
  visit(folder.path, 0);
  return {files, folders, problems};
}

/** Collections of `.claude/agents` sort their files into folders; deeper than this nobody does. */
const MAX_DEPTH = 5;

/** Endings of files that somebody may take for definitions. */
const LOOKALIKE = /\.(?:json|jsonc|json5|ya?ml|toml|md|markdown)$/i;
const ABOUT_THE_FOLDER = /^(?:README|CHANGELOG|LICENSE)\b/i;

/** What to do with an entry; other texts are warnings. */
function kindOf(entry: Dirent, source: FileSource): 'agent' | 'folder' | (string & {}) | undefined {
  // Also what editors leave beside a file that is open.
  if (entry.name.startsWith('.')) return undefined;
  const ending = isClaude(source) ? '.md' : '.json';
  if (entry.name.endsWith(ending)) return 'agent';
  if (isClaude(source)) {
    if (entry.isDirectory()) return 'folder';
    return entry.isSymbolicLink() && isFolder(path.join(entry.parentPath, entry.name))
      ? 'is a link to a folder: such are not followed'
      : undefined;
  }
  if (entry.isDirectory()) return 'is a folder: agents lie beside each other, not in folders';
  if (LOOKALIKE.test(entry.name) && !ABOUT_THE_FOLDER.test(entry.name)) {
    return 'is not read: the file of an agent ends in .json';
  }
  return undefined;
}

function entriesOf(directory: string, problems: Problem[]): Dirent[] | undefined {
  try {
    return readdirSync(directory, {withFileTypes: true}).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') return undefined;
    const list = new ProblemList(directory);
    if (code === 'ENOTDIR') list.error('unreadable', START, 'is not a folder');
    else if (code === 'EACCES') list.error('unreadable', START, 'this folder cannot be read: permission denied');
    else list.error('unreadable', START, `this folder cannot be read: ${messageOf(error)}`);
    problems.push(...list.all);
    return undefined;
  }
}

function warn(file: string, message: string, problems: Problem[]): void {
  const list = new ProblemList(file);
  list.warn('not-read', START, message);
  problems.push(...list.all);
}

function stampOf(file: string): {stamp: string; changedAt: number} {
  const about = statOf(file);
  if (about === undefined) return {stamp: 'unreadable', changedAt: 0};
  const {mtimeNs, ctimeNs, size, ino, mode} = about;
  return {stamp: `${mtimeNs} ${ctimeNs} ${size} ${ino} ${mode}`, changedAt: Number(mtimeNs / 1_000_000n)};
}

/** Links are followed. Undefined for one that leads nowhere, or in a circle. */
function statOf(file: string): BigIntStats | undefined {
  try {
    return statSync(file, {bigint: true, throwIfNoEntry: false});
  } catch (error) {
    // Whatever it is, reading the file will meet it again and name it.
    if (error instanceof Error) return undefined;
    throw error;
  }
}

function isFolder(file: string): boolean {
  return statOf(file)?.isDirectory() ?? false;
}

function sameFolder(a: string, b: string): boolean {
  return resolved(a) === resolved(b);
}

function resolved(folder: string): string {
  try {
    return realpathSync(folder);
  } catch (error) {
    if (error instanceof Error) return path.resolve(folder);
    throw error;
  }
}
