/** The repository of the project, as far as a snapshot borrows from it. */
import {readFile, realpath} from 'node:fs/promises';
import path from 'node:path';
import {git} from '../git.ts';

export interface Project {
  readonly top: string;
  readonly objects: string;
  /** What its own exclude file says. */
  readonly exclude: string;
}

/** The repository that the workspace lies in; undefined without one whose objects can be borrowed. */
export async function projectAt(root: string): Promise<Project | undefined> {
  const asked = ['--show-object-format', '--show-toplevel', '--git-path', 'objects', '--git-path', 'info/exclude'];
  const answer = await git(root, ['rev-parse', ...asked]);
  const [format, top = '', objects = '', exclude = '', ...more] = answer.stdout.toString().split('\n');
  if (answer.exitCode !== 0 || format !== 'sha1' || more.join('') !== '') return undefined;
  const text = await readFile(path.resolve(root, exclude), 'utf8').catch(() => '');
  return {top: await realpath(top), objects: await realpath(path.resolve(root, objects)), exclude: text};
}

/** Beside what the project ignores: what mini-cc itself writes there, and what no other part of it looks through. */
export function excludedIn(project: Project | undefined, top: string, ownFolders: readonly string[]): string {
  const own = ownFolders
    .map((folder) => path.relative(top, folder))
    .filter((relative) => relative !== '' && !relative.startsWith('..'))
    .map((relative) => `/${relative.replaceAll(/[\\*?[\]!# ]/g, '\\$&')}/`);
  return [project?.exclude ?? '', 'node_modules/', ...own, ''].join('\n');
}
