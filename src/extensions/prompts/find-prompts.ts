/** Finds commands and skills of the project and of the user, in `.mini-cc`, in `.claude`, and skills in `.agents`. */

import {type Dirent, existsSync, realpathSync, statSync} from 'node:fs';
import path from 'node:path';
import {isRead, type UserPlaces} from '../../config/layers.ts';
import type {Claim, Trusts} from '../../core/contract/permission.ts';
import type {Plugin} from '../../core/contract/plugin.ts';
import type {ToolFacts} from '../../core/contract/tool-facts.ts';
import {getRuleWarning, parseRule} from '../../core/permissions/rules/rule.ts';
import {tryOr} from '../../core/util/errors.ts';
import {
  listMarkdownFiles,
  listProjectFolder,
  MAX_DEFINITIONS,
  MAX_DEFINITIONS_BYTES,
  MAX_FOLDER_DEPTH,
  MAX_MARKDOWN_BYTES,
} from '../../core/util/files/project-file.ts';
import {findLinkOut} from '../../core/util/paths.ts';
import {toCommandName} from '../../core/util/prompt-syntax.ts';
import {getCommandName, type PromptFile, type PromptKind, readPromptFile} from './prompt-file.ts';

interface PromptLocations extends UserPlaces {
  /** All tools that rules may name. */
  readonly tools: readonly ToolFacts[];
  /** Plugins that are in use. */
  readonly plugins?: readonly Plugin[];
}

interface PromptFolder {
  /** Folder with `commands` and `skills`. */
  readonly path: string;
  /** Present for a plugin, which names its folders and files itself. */
  readonly plugin?: Plugin;
  readonly from: string;
  readonly isProjects: boolean;
  /** True for a folder that has skills alone. */
  readonly hasOnlySkills?: boolean;
}

export interface FoundPrompts {
  /**
   * Commands and skills. When several have the same name, the first one counts: by the order of the folders, and
   * commands before skills in each folder.
   */
  readonly prompts: readonly PromptFile[];
  /** Problems of files, one line each. */
  readonly problems: readonly string[];
  /** Files that cannot be used, by the names that they would have, each with the reason. */
  readonly broken: readonly {readonly name: string; readonly problem: string}[];
  /** The problems of files of which nothing is read. They are shown at the start. */
  readonly skipped: readonly string[];
  /** Permissions that need trust, whether trusted or not. */
  readonly claims: readonly Claim[];
}

/** Lists the folders in order of precedence. */
function listFolders({cwd, home, miniCcHome, sources, plugins = []}: PromptLocations): PromptFolder[] {
  const project = {isProjects: path.resolve(cwd) !== path.resolve(home)};
  const all: PromptFolder[] = [
    {path: path.join(cwd, '.mini-cc'), from: "the project's .mini-cc", ...project},
    {path: miniCcHome, from: 'your .mini-cc', isProjects: false},
    {path: path.join(cwd, '.claude'), from: "the project's .claude", ...project},
    {path: path.join(home, '.claude'), from: 'your .claude', isProjects: false},
    {path: path.join(cwd, '.agents'), from: "the project's .agents", ...project, hasOnlySkills: true},
    {path: path.join(home, '.agents'), from: 'your .agents', isProjects: false, hasOnlySkills: true},
  ];
  const ofPlugins = plugins.map((plugin) => ({
    path: plugin.root,
    from: `the plugin ${plugin.id}`,
    isProjects: false,
    plugin,
  }));
  return [...all.filter(({isProjects}) => isRead(isProjects ? 'project' : 'user', sources)), ...ofPlugins];
}

/**
 * Finds the prompts. It never throws.
 * @param trusts tells whether a claim is trusted; an untrusted file of the project allows nothing
 */
export function findPrompts(locations: PromptLocations, trusts: Trusts): FoundPrompts {
  return readFolders(listFolders(locations), locations, trusts);
}

/** Lists the permissions that the project's files claim. The user's own files need no trust, so they are not read. */
export function listPromptClaims(locations: PromptLocations): readonly Claim[] {
  const projects = listFolders(locations).filter(({isProjects}) => isProjects);
  return readFolders(projects, locations, () => false).claims;
}

function readFolders(folders: readonly PromptFolder[], {cwd, tools}: PromptLocations, trusts: Trusts): FoundPrompts {
  const prompts: PromptFile[] = [];
  const problems: string[] = [];
  const skipped: string[] = [];
  const claims: Claim[] = [];
  const broken: {name: string; problem: string}[] = [];
  for (const folder of folders) {
    for (const {file, kind, name} of listFiles(folder, cwd, skipped)) {
      const read = readPromptFile(file, {kind, name, from: folder.from}, folder.plugin?.root);
      (read.isSkipped ? skipped : problems).push(...read.problems);
      if (!read.prompt) broken.push({name, problem: read.problems[0] ?? file});
      if (!read.prompt || prompts.some((each) => each.name === name)) continue;
      const allowed = checkRules(read.prompt, tools, problems);
      const claim = {file, key: 'allowed-tools', value: allowed};
      const needsTrust = folder.isProjects && allowed.length > 0;
      if (needsTrust) claims.push(claim);
      prompts.push({...read.prompt, allowedTools: needsTrust && !trusts(claim) ? [] : allowed});
    }
  }
  return {prompts, problems: [...skipped, ...problems], broken, skipped, claims};
}

function checkRules({allowedTools, file}: PromptFile, tools: readonly ToolFacts[], problems: string[]): string[] {
  return allowedTools.filter((rule) => {
    const parsed = parseRule(rule, tools);
    const problem = 'problem' in parsed ? `${parsed.problem}: it allows nothing` : getRuleWarning(parsed, tools);
    if (problem !== undefined) problems.push(`${file}:1:1: allowed-tools: ${problem}`);
    return problem === undefined;
  });
}

interface Listed {
  readonly file: string;
  readonly kind: PromptKind;
  readonly name: string;
}

function listFiles(folder: PromptFolder, cwd: string, skipped: string[]): Listed[] {
  const root = folder.isProjects && existsSync(folder.path) ? realpathSync(cwd) : undefined;
  const isFollowed = (file: string) => {
    const target = root === undefined || !existsSync(file) ? undefined : findLinkOut(file, root);
    if (target !== undefined)
      skipped.push(`${file}:1:1: is a link out of the project, to ${target}: it is not followed`);
    return target === undefined;
  };
  if (!isFollowed(folder.path)) return [];
  let isCut = false;
  const cut = () => {
    isCut = true;
  };
  const {commands, skills} = folder.plugin ?? {
    commands: folder.hasOnlySkills ? [] : [path.join(folder.path, 'commands')],
    skills: [path.join(folder.path, 'skills')],
  };
  const prefix = folder.plugin ? `${toCommandName(folder.plugin.name)}:` : '';
  const all = [
    ...commands
      .filter(isFollowed)
      .flatMap((top) =>
        listCommandFiles(top, cut).map(
          ({file, base}) => ({file, kind: 'command', name: prefix + getCommandName(base, file)}) as const,
        ),
      ),
    ...skills.filter(isFollowed).flatMap((top) =>
      listSkillFolders(top, cut).map(
        (each) =>
          ({
            file: path.join(each, 'SKILL.md'),
            kind: 'skill',
            name: prefix + toCommandName(path.basename(each)),
          }) as const,
      ),
    ),
  ];
  let bytes = 0;
  const files = all.flatMap(({file, ...about}): Listed[] => {
    const stat = tryOr(() => statSync(file), undefined);
    if (!stat || bytes > MAX_DEFINITIONS_BYTES || !isFollowed(file)) return [];
    bytes += stat.size > MAX_MARKDOWN_BYTES ? 0 : stat.size;
    return [{file, ...about}];
  });
  if (isCut || files.length > MAX_DEFINITIONS || bytes > MAX_DEFINITIONS_BYTES) {
    const most = `${MAX_DEFINITIONS} commands and skills, ${MAX_DEFINITIONS_BYTES / 1024 / 1024} MB of them or ${MAX_FOLDER_DEPTH} folders below each other`;
    skipped.push(`${folder.path}: has more than ${most}: the others are not read`);
  }
  return files.slice(0, MAX_DEFINITIONS);
}

/** @param top a folder of commands, or one command's file @returns the files with the folder that names begin at */
function listCommandFiles(top: string, onCut: () => void): {file: string; base: string}[] {
  if (/\.md$/i.test(top)) return [{file: top, base: path.dirname(top)}];
  // Links to folders are not followed.
  const isFollowed = (file: string, entry: Dirent) => !entry.isSymbolicLink() || /\.md$/i.test(file);
  return listMarkdownFiles(top, isFollowed, onCut).map((file) => ({file, base: top}));
}

/** @param top a folder of skills, or one skill */
function listSkillFolders(top: string, onCut: () => void): string[] {
  if (existsSync(path.join(top, 'SKILL.md'))) return [top];
  return readEntries(top, onCut).map(({name}) => path.join(top, name));
}

/** Lists the entries in the order of their names. A folder that is missing or unreadable has none. */
function readEntries(folder: string, onCut: () => void): readonly Dirent[] {
  const {entries, isCut} = tryOr(() => listProjectFolder(folder), {entries: [], isCut: false});
  if (isCut) onCut();
  return entries;
}
