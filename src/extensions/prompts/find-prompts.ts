/** Finds commands and skills of the project and of the user, in `.mini-cc` and in `.claude`. */

import {type Dirent, existsSync, readdirSync, realpathSync} from 'node:fs';
import path from 'node:path';
import {isRead, type SettingSource} from '../../config/layers.ts';
import type {Claim, Trusts} from '../../core/contract/permission.ts';
import type {ToolFacts} from '../../core/contract/tool-facts.ts';
import {getRuleWarning, parseRule} from '../../core/permissions/rules/rule.ts';
import {tryOr} from '../../core/util/errors.ts';
import {findLinkOut} from '../../core/util/paths.ts';
import {getCommandName, type PromptFile, type PromptKind, readPromptFile} from './prompt-file.ts';

interface PromptLocations {
  readonly cwd: string;
  /** The user's home, which contains `.claude`. */
  readonly home: string;
  /** The folder `~/.mini-cc`, or the one that `MINI_CC_HOME` names. */
  readonly miniCcHome: string;
  /** Sources of `--setting-sources`; all by default. */
  readonly sources?: readonly SettingSource[];
  /** All tools that rules may name. */
  readonly tools: readonly ToolFacts[];
}

interface PromptFolder {
  readonly path: string;
  readonly from: string;
  readonly isProjects: boolean;
}

export interface FoundPrompts {
  /**
   * Commands and skills. When several have the same name, the first one counts: by the order of the folders, and
   * commands before skills in each folder.
   */
  readonly prompts: readonly PromptFile[];
  /** Problems of files, one line each. */
  readonly problems: readonly string[];
  /** Permissions that need trust, whether trusted or not. */
  readonly claims: readonly Claim[];
}

const MAX_DEPTH = 4;
const MAX_FILES = 2_000;

/** Lists the folders in order of precedence. */
function listFolders({cwd, home, miniCcHome, sources}: PromptLocations): PromptFolder[] {
  const project = {isProjects: path.resolve(cwd) !== path.resolve(home)};
  const all: PromptFolder[] = [
    {path: path.join(cwd, '.mini-cc'), from: "the project's .mini-cc", ...project},
    {path: miniCcHome, from: 'your .mini-cc', isProjects: false},
    {path: path.join(cwd, '.claude'), from: "the project's .claude", ...project},
    {path: path.join(home, '.claude'), from: 'your .claude', isProjects: false},
  ];
  return all.filter(({isProjects}) => isRead(isProjects ? 'project' : 'user', sources));
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
  const claims: Claim[] = [];
  for (const folder of folders) {
    for (const {file, kind, name} of listFiles(folder, cwd, problems)) {
      const read = readPromptFile(file, {kind, name, from: folder.from});
      problems.push(...read.problems);
      if (!read.prompt || prompts.some((each) => each.name === name)) continue;
      const allowed = checkRules(read.prompt, tools, problems);
      const claim = {file, key: 'allowed-tools', value: allowed};
      const needsTrust = folder.isProjects && allowed.length > 0;
      if (needsTrust) claims.push(claim);
      prompts.push({...read.prompt, allowedTools: needsTrust && !trusts(claim) ? [] : allowed});
    }
  }
  return {prompts, problems, claims};
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

function listFiles(folder: PromptFolder, cwd: string, problems: string[]): Listed[] {
  const root = folder.isProjects && existsSync(folder.path) ? realpathSync(cwd) : undefined;
  const isFollowed = (file: string) => {
    const target = root === undefined ? undefined : findLinkOut(file, root);
    if (target !== undefined)
      problems.push(`${file}:1:1: is a link out of the project, to ${target}: it is not followed`);
    return target === undefined;
  };
  const commands = path.join(folder.path, 'commands');
  const files = walk(commands, 0).filter((file) => /\.md$/i.test(file) && isFollowed(file));
  const skills = readEntries(path.join(folder.path, 'skills')).flatMap(({name}) => {
    const file = path.join(folder.path, 'skills', name, 'SKILL.md');
    return existsSync(file) && isFollowed(file) ? [{file, kind: 'skill', name: name.toLowerCase()} as const] : [];
  });
  return [
    ...files.map((file) => ({file, kind: 'command', name: getCommandName(commands, file)}) as const),
    ...skills,
  ].slice(0, MAX_FILES);
}

function walk(folder: string, depth: number): string[] {
  if (depth > MAX_DEPTH) return [];
  return readEntries(folder).flatMap((entry) => {
    const file = path.join(folder, entry.name);
    return entry.isDirectory() ? walk(file, depth + 1) : [file];
  });
}

/** Lists the entries in the order of their names. A folder that is missing or unreadable has none. */
function readEntries(folder: string): Dirent[] {
  const entries = tryOr(() => readdirSync(folder, {withFileTypes: true}), []);
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}
