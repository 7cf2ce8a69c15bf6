/**
 * Finds the programs that mini-cc starts for itself, such as git, bash and bwrap. A project must not bring them: under
 * `npm exec` the first folders of PATH are the `node_modules/.bin` of the repository. Like PATH, what is found holds
 * for the whole process, because one process may have sessions in several projects.
 */
import {accessSync, constants, existsSync, realpathSync, statSync} from 'node:fs';
import {homedir} from 'node:os';
import path from 'node:path';
import {tryOr} from './errors.ts';
import {isInside, listProjectFolders} from './paths.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Folders of projects, links resolved. Undefined until the first look-up adds the working directory. */
let projects: Set<string> | undefined;
/** Programs that were found, by search path and name. */
const found = new Map<string, string>();

/** From now on no program in the workspace, or in the repository around it, counts as one of mini-cc's own. */
export function keepOutPrograms(workspace: string): void {
  const before = projects?.size;
  projects ??= new Set(listOwnFolders(tryOr(() => process.cwd(), '/')));
  for (const folder of listOwnFolders(workspace)) projects.add(folder);
  if (projects.size !== before) found.clear();
}

/**
 * Returns the workspace and the top of its repository. The home is no project, nor is a top above it, nor a folder that
 * has the system in it, such as `/`.
 */
function listOwnFolders(workspace: string): string[] {
  const real = getRealPath(workspace);
  const home = getRealPath(homedir());
  const [top = real] = listProjectFolders(real);
  const folders = isInside(home, [top]) ? [real] : [real, top];
  return folders.filter((folder) => folder !== home && !isInside('/usr/bin', [folder]));
}

/** @returns the absolute path of one of mini-cc's own programs; undefined when only projects have it, or nothing has */
export function findOwnProgram(name: string, searchPath = process.env.PATH ?? ''): string | undefined {
  const key = `${name}\0${searchPath}`;
  const folders = found.has(key) ? [] : getOwnSearchPath(searchPath).split(path.delimiter);
  for (const folder of folders) {
    const file = path.join(folder, name);
    if (!isProgram(file) || isProjects(file)) continue;
    found.set(key, file);
    break;
  }
  return found.get(key);
}

/** Returns the folders of PATH that are absolute and of no project. Where there is none, the path leads nowhere. */
export function getOwnSearchPath(searchPath = process.env.PATH ?? ''): string {
  if (projects === undefined) keepOutPrograms('/');
  const folders = searchPath.split(path.delimiter).filter((folder) => path.isAbsolute(folder) && !isProjects(folder));
  return folders.join(path.delimiter) || NOWHERE;
}

/** An empty PATH would mean the current folder. */
export const NOWHERE = '/nonexistent';

/**
 * Returns the PATH for commands: that of the user's shell. A package runner (`npm exec`, `pnpm dlx`) puts programs of
 * the project before it to start mini-cc.
 */
export function getCommandSearchPath({PATH = '', npm_config_user_agent: runner}: Environment): string {
  if (runner === undefined) return PATH;
  const folders = PATH.split(path.delimiter).filter(
    (folder) => !/\/node_modules\/\.bin\/?$/.test(folder) || !isProjects(folder),
  );
  return folders.join(path.delimiter);
}

/**
 * Says whether a command line of the environment, such as that of EDITOR, names a program by a relative path or in a
 * project. Npm sets EDITOR from the project's `.npmrc`.
 */
export function namesProjectProgram(commandLine: string): boolean {
  const named = commandLine.split(/[\s"';&|()=]+/).filter((word) => word.includes('/'));
  return named.map((word) => path.resolve(word)).some((file) => existsSync(file) && isProjects(file));
}

function isProjects(place: string): boolean {
  if (projects === undefined) keepOutPrograms('/');
  return isInside(path.resolve(place), [...projects!]) || isInside(getRealPath(place), [...projects!]);
}

/** Whether this is a file that can be executed. */
export function isProgram(file: string): boolean {
  return tryOr(() => {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  }, false);
}

/** Returns the path with links resolved, and the same path when nothing can be reached there. */
export function getRealPath(place: string): string {
  return tryOr(() => realpathSync(place), place);
}
