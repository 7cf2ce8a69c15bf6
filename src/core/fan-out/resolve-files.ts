/**
 * Finds the files of a fan-out: those that a request names, or that its instruction means. Agents must be able to write
 * them.
 */
import {lstatSync} from 'node:fs';
import path from 'node:path';
import {isProtected} from '../permissions/files/file-zone.ts';
import {UsageError} from '../util/errors.ts';
import type {FanOutUnit} from './detection.ts';
import {findMeantFiles, type ProjectFiles} from './meant-files.ts';
import {isPattern} from './path-words.ts';
import {createFileTest} from './preview.ts';

/**
 * @param names paths, folders or patterns; when absent, the instruction decides
 * @throws UsageError when a name matches no file
 */
export function resolveFiles(
  instruction: string,
  names: readonly string[] | undefined,
  project: ProjectFiles,
  root: string,
  unit?: FanOutUnit,
): readonly string[] {
  const meant = names
    ? names.flatMap((name) => findFiles(name, project, root))
    : findMeantFiles(instruction, project, unit);
  return [...new Set(meant)].filter((file) => isOrdinary(file, root));
}

function findFiles(name: string, {all}: ProjectFiles, root: string): readonly string[] {
  const relative = path.relative(root, path.resolve(root, name));
  if (relative.startsWith('..'))
    throw new UsageError(`A fan-out works in ${root}: ${JSON.stringify(name)} is outside of it`);
  if (getKind(path.join(root, relative)) === 'file') return [relative];
  const found = all.filter(createFileTest(isPattern(name) ? name : relative));
  if (found.length === 0) throw new UsageError(`No file is meant by ${JSON.stringify(name)} in ${root}`);
  return found;
}

/** Accepts regular files, but no links, which may lead elsewhere, and no files that are asked about in each mode. */
function isOrdinary(file: string, root: string): boolean {
  return getKind(path.join(root, file)) === 'file' && !isProtected(`/${file}`);
}

function getKind(file: string): 'file' | 'other' | undefined {
  const stat = lstatSync(file, {throwIfNoEntry: false});
  return stat && (stat.isFile() ? 'file' : 'other');
}
