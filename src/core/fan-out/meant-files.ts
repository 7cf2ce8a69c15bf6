/**
 * Finds the files of a fan-out: those that a request names, or that its instruction means by its paths, patterns and
 * `@` mentions, within its folders, of its kinds. If it names none, these are the source files that git tracks. Agents
 * must be able to write them.
 */

import {lstatSync} from 'node:fs';
import path from 'node:path';
import {isProtected} from '../permissions/files/file-zone.ts';
import {UsageError} from '../util/errors.ts';
import {type FileTest, findKind, isSource, isText} from '../util/file-kinds.ts';
import {Glob} from '../util/glob.ts';
import {type FanOutUnit, isPattern, PATH_TOKEN} from './detection.ts';

/** Paths relative to the workspace, with `/`, in the order of the listing. */
export interface ProjectFiles {
  readonly tracked: readonly string[];
  /** Includes files that git neither tracks nor ignores. */
  readonly all: readonly string[];
}

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

/** Creates a test for a path, a folder or a pattern. A pattern without a folder matches names in any folder. */
export function createFileTest(name: string): FileTest {
  const clean = name.replace(/^@|^\.\//, '').replace(/\/+$/, '');
  const glob = new Glob(clean, {braces: true, openStars: true, plainBrackets: true});
  return (file) =>
    file === clean ||
    file.startsWith(`${clean}/`) ||
    glob.matches(clean.includes('/') ? file : file.slice(file.lastIndexOf('/') + 1));
}

interface Named {
  readonly files: string[];
  readonly folders: string[];
  /** Tests for patterns with a folder in them. */
  readonly globs: FileTest[];
  /** Tests for names and kinds, which match in any folder. */
  readonly kinds: FileTest[];
}

/**
 * @param unit unit that the prompt speaks of. With `files`, one or two files named in passing do not limit "all files"
 */
export function findMeantFiles(prompt: string, project: ProjectFiles, unit?: FanOutUnit): readonly string[] {
  const text = prompt.replace(/```[\s\S]*?(?:```|$)/g, ' ');
  const lookup = new Lookup(project.all);
  const named: Named = {files: [], folders: [], globs: [], kinds: findKinds(text)};
  const excluded: Named = {files: [], folders: [], globs: [], kinds: []};
  let folderEnd = -1;
  for (const {0: token, index} of text.matchAll(PATH_TOKEN)) {
    const before = text.slice(0, index);
    const isListed = folderEnd >= 0 && LIST_JOINT.test(text.slice(folderEnd, index));
    const place = {before, after: text.slice(index + token.length), isListed};
    const isFolder = addToken(token, place, EXCEPT.test(before) ? excluded : named, lookup);
    if (isFolder) folderEnd = index + token.length;
    else if (!LIST_JOINT.test(token)) folderEnd = -1;
  }
  const leavesOut = (file: string) =>
    excluded.files.includes(file) ||
    isBelow(file, excluded.folders) ||
    [...excluded.globs, ...excluded.kinds].some((test) => test(file));
  return select(named, project, unit).filter((file) => !leavesOut(file));
}

function select(named: Named, {tracked, all}: ProjectFiles, unit: FanOutUnit | undefined): readonly string[] {
  const {files, folders, globs, kinds} = named;
  const ofKind = (file: string) => kinds.length === 0 || kinds.some((test) => test(file));
  const found = new Set<string>();
  const add = (each: readonly string[]) => {
    for (const file of each) found.add(file);
  };
  if (globs.length > 0) add(all.filter((file) => globs.some((test) => test(file)) && isText(file)));
  if (folders.length > 0) {
    const inside = all.filter((file) => isBelow(file, folders) && isText(file));
    const sources = inside.filter(isSource);
    add(kinds.length > 0 ? inside.filter(ofKind) : sources.length > 0 ? sources : inside);
  } else if (kinds.length > 0) add(all.filter((file) => ofKind(file)));
  const isPassing = unit === 'files' && files.length < 3;
  if (!isPassing || found.size > 0) add(files);
  if (globs.length > 0 || folders.length > 0 || kinds.length > 0 || (files.length > 0 && !isPassing)) {
    return all.filter((file) => found.has(file));
  }
  const known = tracked.length > 0 ? tracked : all;
  return known.filter(isSource);
}

/** Text before a path that is left out. */
const EXCEPT =
  /(?:(?<![\p{L}])(?:except(?:\s+for)?|but\s+not|not|excluding|other\s+than|apart\s+from|without|sauf|excepté|hormis|кроме|исключая|за\s+исключением)(?![\p{L}])|除了?)(?:(?![.!?;]\s)[^。；外])*$/iu;
/** Text before the name of a folder; `FOLDER_WORD` matches the text after it. */
const IN_FOLDER =
  /(?<![\p{L}])(?:in|under|within|inside|below|of|from|dans|sous|dossier|du|de|в|во|из|папке|папки|каталоге|директории)(?:\s+(?:the|my|our|folders?|directory|le|dossier|répertoire))*\s*$|(?:在|目录|文件夹)\s*$/iu;
const FOLDER_WORD = /^\s*(?:folders?|director(?:y|ies)|dir|tree|目录|文件夹|下|里|中)(?![a-z])/i;

/** Text between two folders of a list. */
const LIST_JOINT = /^\s*(?:,|、|and|or|et|ou|и|или|和|与)+\s*$/iu;

/** @returns whether the word names a folder */
function addToken(
  token: string,
  {before, after, isListed}: {readonly before: string; readonly after: string; readonly isListed: boolean},
  named: Named,
  lookup: Lookup,
): boolean {
  // The word may begin as a mention, and the punctuation of the sentence may follow it.
  const name = token
    .replace(/^@/, '')
    .replace(/[.,?]+$/, '')
    .replace(/^\.\//, '');
  if (name === '' || /^\*+$/.test(name)) return false;
  if (isPattern(name)) {
    const glob = new Glob(name.replace(/\/$/, '/**'), {braces: true, openStars: true});
    if (name.includes('/')) named.globs.push((file) => glob.matches(file));
    else named.kinds.push((file) => glob.matches(file.slice(file.lastIndexOf('/') + 1)) && isText(file));
    return false;
  }
  if (lookup.isFile(name)) named.files.push(name);
  else if (/^\.\w{1,8}$/.test(name)) named.kinds.push(findKind(name)!);
  else {
    const folder = name.replace(/\/+$/, '');
    const isMarked = isListed || token.startsWith('@') || name.includes('/') || IN_FOLDER.test(before);
    if ((isMarked || FOLDER_WORD.test(after)) && lookup.isFolder(folder)) return named.folders.push(folder) > 0;
  }
  return false;
}

const KIND_NAME = /[\p{L}\p{N}_+#.]+/u;
const KIND_BEFORE = new RegExp(
  `(?<![\\p{L}\\p{N}_/.])(${KIND_NAME.source})\\s*(?:source\\s+)?(?:files?|sources?|functions?|class(?:es)?|modules?|components?|methods?|文件|函数|模块|组件|源码)(?![\\p{L}\\p{N}_]*[./])`,
  'giu',
);
const KIND_AFTER = new RegExp(
  `(?:fichiers?|файл\\p{L}*|modules?|fonctions?)\\s+(?:en\\s+|на\\s+|de\\s+)?(${KIND_NAME.source})`,
  'giu',
);

/** Finds kinds of files, as in "TypeScript files", "fichiers TypeScript", "所有 Python 文件". */
function findKinds(text: string): FileTest[] {
  const names = [...text.matchAll(KIND_BEFORE), ...text.matchAll(KIND_AFTER)].map((match) => match[1]!);
  return names.flatMap((name) => findKind(name) ?? []);
}

class Lookup {
  readonly #files: ReadonlySet<string>;
  readonly #folders = new Set<string>();

  constructor(files: readonly string[]) {
    this.#files = new Set(files);
    for (const file of files) {
      for (let slash = file.lastIndexOf('/'); slash > 0; slash = file.lastIndexOf('/', slash - 1)) {
        const folder = file.slice(0, slash);
        if (this.#folders.has(folder)) break;
        this.#folders.add(folder);
      }
    }
  }

  isFile(name: string): boolean {
    return this.#files.has(name);
  }

  isFolder(name: string): boolean {
    return this.#folders.has(name);
  }
}

function isBelow(file: string, folders: readonly string[]): boolean {
  return folders.some((folder) => file.startsWith(`${folder}/`));
}
