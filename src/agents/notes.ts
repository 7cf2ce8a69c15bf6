/**
 * Opens the notes of agents whose definition has `memory`: a folder for each agent, which is kept between its runs. A
 * project's notes are used only when the user trusts them, or when a session of this user began them.
 */
import {lstatSync} from 'node:fs';
import {type FileHandle, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {isRead, type SettingSource} from '../config/layers.ts';
import type {DirectoryTrust} from '../config/trust.ts';
import type {AgentDefinition} from '../core/agent-types.ts';
import type {AgentNotes, Claim} from '../core/contract/permission.ts';
import {resolveLinks} from '../core/permissions/files/resolve-links.ts';
import {getErrorCode, getErrorMessage, MiniCcError, tryOr} from '../core/util/errors.ts';
import {withOpenFolder, withRegularFile} from '../core/util/files/open-folder.ts';
import {listProjectFolder, MAX_MARKDOWN_BYTES} from '../core/util/files/project-file.ts';

type Memory = NonNullable<AgentDefinition['memory']>;
type Scope = Memory['scope'];

/** Folders of notes, below the home of mini-cc or the root of the project. */
const FOLDERS: Readonly<Record<Scope, string>> = {
  user: 'agent-memory',
  project: '.mini-cc/agent-memory',
  local: '.mini-cc/agent-memory-local',
};
const OF_PROJECT = ['project', 'local'] as const;

const MAX_LINES = 200;
const MAX_CHARS = 40_000;

interface NotesOptions {
  /** Root of the project, with links resolved. */
  readonly root: string;
  /** mini-cc's own folder. */
  readonly home: string;
  readonly trust: Pick<DirectoryTrust, 'trusts' | 'remember'>;
  /** Value of `--setting-sources`. Default: all. */
  readonly sources: readonly SettingSource[] | undefined;
}

/** Creates the function that opens the notes of an agent. It returns undefined when there are none, and never rejects. */
export function createOpenNotes(options: NotesOptions) {
  return async (
    {name, memory}: Pick<AgentDefinition, 'name' | 'memory'>,
    warn: (text: string) => void,
  ): Promise<AgentNotes | undefined> => {
    if (!memory || !isRead(memory.scope, options.sources)) return undefined;
    try {
      return await open(name, memory, options);
    } catch (error) {
      warn(`agent ${name} works without its notes: ${getErrorMessage(error)}`);
      return undefined;
    }
  };
}

/** @throws MiniCcError for a link on the way and a MEMORY.md that cannot be read */
async function open(name: string, {scope, tools}: Memory, {root, home, trust}: NotesOptions) {
  const all = path.join(scope === 'user' ? resolveLinks(home, '/') : root, FOLDERS[scope]);
  const folder = path.join(all, name);
  if (path.dirname(folder) !== all) throw new MiniCcError('NAME', `${JSON.stringify(name)} is no name of a folder`);
  const place = resolveLinks(folder, '/');
  if (place !== folder) throw new MiniCcError('LINK', `${folder} is a link, or below one, and leads to ${place}`);
  if (scope !== 'user' && !(await isTrusted({file: folder, key: 'memory', value: scope}, trust))) return undefined;
  if (scope === 'local') await ignoreByGit(all);
  const text = (await withRegularFile(path.join(folder, 'MEMORY.md'), readStart)) ?? '';
  return {folder, tools, text};
}

/** Notes that do not exist yet are the user's own from the first run on. */
async function isTrusted(claim: Claim, trust: NotesOptions['trust']): Promise<boolean> {
  if (trust.trusts(claim)) return true;
  if (lstatSync(claim.file, {throwIfNoEntry: false})) return false;
  await trust.remember([claim], 'trusted');
  return true;
}

/** Makes the folder ignore itself, because its notes are for one user. */
async function ignoreByGit(folder: string): Promise<void> {
  const write = (file: string) => writeFile(file, '*\n', {flag: 'wx'});
  try {
    await withOpenFolder(folder, (opened) => opened.use('.gitignore', write), {create: true});
  } catch (error) {
    if (getErrorCode(error) !== 'EEXIST') throw error;
  }
}

async function readStart(handle: FileHandle): Promise<string> {
  const {size} = await handle.stat();
  if (size > MAX_MARKDOWN_BYTES) throw new MiniCcError('TOO_LARGE', 'its MEMORY.md is larger than 1 MB');
  const all = (await handle.readFile()).toString().trim();
  const shown = all.split('\n').slice(0, MAX_LINES).join('\n').slice(0, MAX_CHARS).toWellFormed();
  return shown === all ? all : `${shown}\n(MEMORY.md is longer: only its beginning is shown)`;
}

/** Lists the folders of notes that a project has. @param root with links resolved */
export function listNotesClaims(root: string): Claim[] {
  return OF_PROJECT.flatMap((scope) => {
    const all = path.join(root, FOLDERS[scope]);
    // Notes below a link are not used, so the names there are not looked at.
    if (resolveLinks(all, '/') !== all) return [];
    const {entries} = tryOr(() => listProjectFolder(all), {entries: [], isCut: false});
    return entries
      .filter((entry) => !entry.isFile())
      .map(({name}) => ({file: path.join(all, name), key: 'memory', value: scope}));
  });
}
