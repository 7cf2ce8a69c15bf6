/** Judges commands of the literal grammar by the state of this machine: programs on PATH, links, git repositories. */

import {existsSync} from 'node:fs';
import path from 'node:path';
import type {Verdict} from '../../contract/permission.ts';
import {isInside} from '../../util/paths.ts';
import {isProgram} from '../../util/programs.ts';
import type {PermissionContext} from '../context.ts';
import {judgeRead} from '../files/file-judge.ts';
import {getFileZone, getRoots} from '../files/file-zone.ts';
import {resolveLinks} from '../files/resolve-links.ts';
import {combineVerdicts, deny} from '../verdict.ts';
import {type CommandPart, joinPath} from './command-shape.ts';
import {checkRepository} from './literal-git.ts';
import {isBuiltIn, type LiteralCommand, parseLiteral, readLiteralCommand, readLiteralWord} from './literal-grammar.ts';
import {UnclearCommand, unlessUnclear} from './shell-words.ts';

/** Whether the command belongs to the literal grammar on this machine. The files that it reads are not judged. */
export function isLiteral(text: string, context: PermissionContext): boolean {
  return !(unlessUnclear(() => readLiteral(text, context)) instanceof UnclearCommand);
}

/** Judges the files that a command of the literal grammar reads. @throws UnclearCommand for another command */
export function judgeLiteral(text: string, context: PermissionContext): Verdict {
  const {commands, directories} = readLiteral(text, context);
  const verdict = combineVerdicts([
    ...directories.map((folder) => judgeRead(folder, {...context, tool: 'read_file'})),
    ...commands.map((command) => judgeReads(command, directories, context)),
  ]);
  return verdict.verdict === 'ask' ? {...verdict, because: `runs a command that ${verdict.because}`} : verdict;
}

/** Judges a literal part of a command whose other parts a rule allows. @throws UnclearCommand when it is not literal */
export function judgeLiteralPart(
  {words}: CommandPart,
  directories: readonly string[],
  context: PermissionContext,
): Verdict {
  const texts = words.map(({raw}) => readLiteralWord(raw));
  if (texts[0] === 'cd') {
    return combineVerdicts(directories.map((folder) => judgeRead(folder, {...context, tool: 'read_file'})));
  }
  const command = readLiteralCommand(texts);
  checkProgram(command, directories, context);
  return judgeReads(command, directories, context);
}

function readLiteral(text: string, context: PermissionContext) {
  const {workspace} = context;
  const {commands, folder} = parseLiteral(text);
  // `cd` follows names where other programs follow links, so both must lead to the same place.
  if (folder !== undefined) {
    const isPlain = resolveLinks(folder, workspace.cwd) === path.resolve(workspace.cwd, folder);
    if (!isPlain || workspace.env.CDPATH !== undefined) throw new UnclearCommand('cd: where it leads is not plain');
  }
  const directories = folder === undefined ? ['.'] : ['.', folder];
  const read = commands.map((words) => readLiteralCommand(words));
  for (const command of read) checkProgram(command, directories, context);
  return {commands: read, directories};
}

/** Home folders are not listed: the shims of version managers there run programs that a file of the project names. */
const SYSTEM_FOLDERS = ['/usr', '/bin', '/sbin', '/opt', '/nix'];

/** @throws UnclearCommand when a program of the project, or one that the settings of a repository name, could run */
function checkProgram({program}: LiteralCommand, directories: readonly string[], {workspace}: PermissionContext): void {
  if (isBuiltIn(program)) return;
  const {cwd, env} = workspace;
  for (const folder of directories) {
    const at = resolveLinks(folder, cwd);
    const found = program.startsWith('/') ? program : findOnPath(program, env.PATH ?? '', at);
    if (found === undefined) throw new UnclearCommand(`${program} was not found on PATH`);
    const target = resolveLinks(found, at);
    if (isInside(found, getRoots(workspace)) || !isInside(target, SYSTEM_FOLDERS)) {
      throw new UnclearCommand(`${program} is no program of the system: ${target}`);
    }
    if (/(?:^|\/)git$/.test(program) && existsSync(at)) checkRepository(at, workspace);
  }
}

/** Finds a program as bash does. An empty folder in PATH is the current one. */
function findOnPath(program: string, searchPath: string, cwd: string): string | undefined {
  return searchPath
    .split(':')
    .map((folder) => path.join(path.resolve(cwd, folder), program))
    .find(isProgram);
}

function judgeReads(
  {paths, searches}: LiteralCommand,
  directories: readonly string[],
  context: PermissionContext,
): Verdict {
  const reading = {...context, tool: 'read_file'};
  const places = directories.flatMap((folder) => [folder, ...paths.map((each) => joinPath(folder, each))]);
  return combineVerdicts(places.map((place) => (searches ? judgeSearch(place, reading) : judgeRead(place, reading))));
}

/** Judges a search below a folder like reading that folder, and asks when there are keys below it. */
function judgeSearch(given: string, context: PermissionContext): Verdict {
  const verdict = judgeRead(given, context);
  if (verdict.verdict !== 'allow' || context.mode === 'bypassPermissions') return verdict;
  const {workspace, zonePaths} = context;
  const target = resolveLinks(given, workspace.cwd);
  const zone = getFileZone(target, workspace, zonePaths);
  // `judgeRead` already decided about a search inside a secret folder or a folder of mini-cc.
  if (zone === 'secret' || zone === 'own') return verdict;
  const below = zonePaths.secretPaths.find((each) => each !== target && isInside(each, [target]) && existsSync(each));
  if (below === undefined) return verdict;
  return context.neverAsks
    ? deny(`${below} is where keys are kept`)
    : {verdict: 'ask', because: `reads where keys are kept: ${below}`, onlyPerson: true};
}
