/**
 * Finds the places that a command names and the read-only sandbox hides. With them hidden, the command would print
 * something else.
 */

import {lstatSync} from 'node:fs';
import {tryOr} from '../../util/errors.ts';
import {isInside} from '../../util/paths.ts';
import type {PermissionContext} from '../context.ts';
import {expandPattern} from '../files/file-patterns.ts';
import {resolveLinks} from '../files/resolve-links.ts';
import type {ParsedCommand} from './command-parser.ts';
import {getVariables} from './guessed-words.ts';
import {findNamedFiles, guessFolders} from './named-files.ts';

/** The sandbox has other devices and processes, so a device that does not exist here may exist there. */
const OF_THE_SANDBOX = /^\/(?:dev|proc)(?:\/|$)/;

/** Returns the existing places that the words show and the sandbox hides: absolute, with links resolved. */
export function findHiddenPlaces(parsed: ParsedCommand, {workspace, sandbox}: PermissionContext): string[] {
  const {cwd} = workspace;
  const {shape} = parsed;
  // These programs print their words instead of reading files. Patterns in their words are still looked up, because
  // bash expands them.
  const parts = parsed.parts.filter(({words}) => !/^(?:echo|printf)$/.test(words[0]?.text ?? ''));
  // The starting folder is left out after a `cd`: if the `cd` fails, the command reads little.
  const directories = shape.directories.length > 1 ? shape.directories.slice(1) : shape.directories;
  const variables = getVariables([shape], workspace);
  const folders = [...directories, ...guessFolders(parsed, variables)];
  const {globs} = findNamedFiles(parsed, folders, variables);
  const {reads} = findNamedFiles({...parsed, parts}, folders, variables);
  const matching = globs.flatMap((pattern) => [getFolder(pattern), ...expandPattern(pattern, cwd)]);
  // A path in a circle of links counts as the current folder: nothing can be read through it.
  const places = [...reads, ...matching].map((given) => tryOr(() => resolveLinks(given, cwd), cwd));
  if (places.length === 0) return [];
  const isVisible = sandbox.visibleIn(workspace);
  const isHidden = (place: string) => (OF_THE_SANDBOX.test(place) || exists(place)) && !isVisible(place);
  // An agent in a worktree that names the main checkout means its worktree. The tool tells it so after the command.
  const main = workspace.copyOf ? [workspace.copyOf.main] : [];
  return [...new Set(places)].filter((place) => isHidden(place) && !isInside(place, main));
}

/** Returns the part of a path before anything that bash expands. */
function getFolder(pattern: string): string {
  const plain = /^[^*?[{$`(]*/.exec(pattern)?.[0] ?? '';
  return plain === pattern ? plain : plain.replace(/[^/]*$/, '') || '.';
}

/** A path that this process may not look at counts as existing. */
function exists(place: string): boolean {
  return tryOr(() => lstatSync(place, {throwIfNoEntry: false}) !== undefined, true);
}

/** Bash sets these variables itself and ignores their values in the environment. */
const SET_BY_BASH =
  /^(?:\d+|_|PWD|OLDPWD|IFS|RANDOM|SECONDS|LINENO|UID|EUID|PPID|SHLVL|HOSTNAME|OSTYPE|MACHTYPE|BASH\w*)$/;

/** Returns the name of an environment variable that the command uses and the sandbox does not keep. */
export function findLostVariable(
  text: string,
  {shape}: ParsedCommand,
  {workspace: {env}, sandbox}: Pick<PermissionContext, 'workspace' | 'sandbox'>,
): string | undefined {
  const names = [...text.replace(/'[^']*'/g, '').matchAll(/\$\{?[#!]?(\w+)/g)].map(([, name = '']) => name);
  return names.find(
    (name) =>
      Object.hasOwn(env, name) &&
      !SET_BY_BASH.test(name) &&
      !shape.variables.has(name) &&
      !sandbox.keepsVariable(name, env[name]!),
  );
}
