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
    : findMeantFiles(instruction, project, unit, root);
  return [...new Set(meant)].filter((file) => isOrdinary(file, root));
}

function findFiles(name: string, {all}: ProjectFiles, root: string): readonly string[] {
  const relative = path.relative(root, path.resolve(root, name));
  if (relative.startsWith('..'))
    throw new UsageError(`A fan-out works in ${root}: ${JSON.stringify(name)} is outside of it`);
  if (getKind(path.join(root, relative)) === 'file') return [relative];
  const found = all.filter(createFileTest(isPattern(name) ? name : relative));
  if (found.length === 0) throw createMissingError(name, root);
  return found;
}

function createMissingError(name: string, root: string): UsageError {
  return new UsageError(`No file is meant by ${JSON.stringify(name)} in ${root}`);
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
 * @throws UsageError for a place that is named and does not exist, so that a misspelling never means all files
 */
export function findMeantFiles(
  prompt: string,
  project: ProjectFiles,
  unit?: FanOutUnit,
  root = '/',
): readonly string[] {
  const text = prompt.replace(/```[\s\S]*?(?:```|$)|\b[a-z][a-z+.-]*:\/\/\S+/gi, ' ');
  const lookup = new Lookup(project.all, root);
  const named: Named = {files: [], folders: [], globs: [], kinds: findKinds(text)};
  const excluded: Named = {files: [], folders: [], globs: [], kinds: []};
  let folderEnd = -1;
  for (const word of findPathWords(text, lookup)) {
    const isListed = folderEnd >= 0 && LIST_JOINT.test(text.slice(folderEnd, word.start));
    const isExcluded = EXCEPT.test(word.before);
    const isFolder = addWord({...word, isListed, isExcluded}, isExcluded ? excluded : named, lookup);
    if (isFolder) folderEnd = word.end;
    else if (!LIST_JOINT.test(word.name)) folderEnd = -1;
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

const EXCEPT_WORD =
  '(?:(?<![\\p{L}])(?:except(?:\\s+for)?|but\\s+not|not|excluding|other\\s+than|apart\\s+from|without|sauf|excepté|hormis|кроме|исключая|за\\s+исключением)(?![\\p{L}])|除了?)';
/** Text before a path that is left out. */
const EXCEPT = new RegExp(`${EXCEPT_WORD}(?:(?![.!?;]\\s)[^。；外])*$`, 'iu');
const RIGHT_AFTER_EXCEPT = new RegExp(`${EXCEPT_WORD}\\s*$`, 'iu');
const ARTICLES =
  '(?:\\s+(?:all|the|my|our|folders?|director(?:y|ies)|files?|modules?|le|la|les|dossiers?|répertoires?|fichiers?))*\\s*$';
/** Text before the name of a folder; `FOLDER_WORD` matches the text after it. */
const IN_FOLDER = new RegExp(
  `(?<![\\p{L}])(?:in|under|within|inside|below|of|from|dans|sous|dossier|du|de|в|во|из|папке|папки|каталоге|директории)${ARTICLES}|(?:在|目录|文件夹)\\s*$`,
  'iu',
);
/** Text before a path that surely says where the work is. After "imports of" comes the name of a module. */
const IN_PLACE = new RegExp(
  `(?<![\\p{L}])(?:in|under|within|inside|below|dans|sous|dossier|в|во|папке|папки|каталоге|директории|(?:files?|fichiers?|файл\\p{L}*)\\s+(?:of|from|du|de|из))${ARTICLES}|(?:在|目录|文件夹)\\s*$`,
  'iu',
);
const FOLDER_WORD = /^\s*(?:folders?|director(?:y|ies)|dir|tree|目录|文件夹|下|里|中)(?![a-z])/i;
/** Text after a place: the end of a clause. Other words go on with the name: "in input/output code". */
const PLACE_END =
  /^\s*(?:$|[.,;:!?)\]，。；：！？、]|(?:to|so|and|or|with|by|using|pour|et|avec|чтобы|на|и|с)(?!\p{L}))/iu;

/** Text between two folders of a list. */
const LIST_JOINT = /^\s*(?:,|、|and|or|et|ou|и|или|和|与)+\s*$/iu;

/** A word of the prompt that may be a path. */
interface PathWord {
  /** Without `@`, the quotes around it and the punctuation after it. */
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly isMention: boolean;
  readonly before: string;
  readonly after: string;
}

/** Chinese words that may follow a path without a space, and are no part of it. */
const HAN_TEXT = '[下里中内](?![\\p{L}\\p{N}])|[下里中内]?(?:的|所有|每|全部|各|目录|文件|代码|函数|类)';
/** Goes on with a path in letters of other alphabets. Chinese ones belong to it only after a slash. */
const MORE_LETTERS = `(?:(?:(?<=/)(?!${HAN_TEXT})|(?<=/[\\w.-]*)(?!\\p{Script=Han}))[^\\P{L}A-Za-z][\\p{L}\\p{M}\\p{N}\\w./-]*)?`;
const OPENING_QUOTE = /["'`“«「]\s?$/;

/** Finds the words that may be paths, and the paths of the project in which other characters occur, such as spaces. */
function* findPathWords(text: string, lookup: Lookup): Generator<PathWord> {
  const odd = lookup.findOddNames(text).map((name) => name.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'));
  const known = odd.map((name) => `(?<![\\w./-])@?${name}/?(?=$|[^\\p{L}\\p{N}_/-]|${HAN_TEXT})|`).join('');
  const words = new RegExp(`${known}${PATH_TOKEN.source}(?:\\\\(?=\\w)[\\w.-]+)*${MORE_LETTERS}`, 'gu');
  for (const {0: token, index} of text.matchAll(words)) {
    const isMention = token.startsWith('@');
    const start = isMention ? index + 1 : index;
    const isQuoted = OPENING_QUOTE.test(text.slice(0, index));
    const before = isQuoted ? text.slice(0, index).replace(OPENING_QUOTE, '') : text.slice(0, index);
    const quoted = isQuoted ? /^[^"'`”»」\n]*(?=["'`”»」])/.exec(text.slice(start))?.[0].trim() : undefined;
    const isWhole = quoted !== undefined && /\s/.test(quoted) && IN_PLACE.test(before);
    const name = isWhole ? quoted : text.slice(start, index + token.length).replace(/(?<!^\.?)[.,?]+$/, '');
    const end = start + name.length;
    const after = text.slice(end).replace(/^["'`”»」]/, '');
    yield {name: name.replace(/^\.\//, '').replaceAll('\\', '/'), start, end, isMention, before, after};
  }
}

/** Whether the word is a pattern. `?` and `[]` also occur in code, so that these count in paths alone. */
function isPathPattern(name: string): boolean {
  return isPattern(name) || (name.includes('/') && /\?(?!$)|\[[^\]]+\]/.test(name));
}

type PlacedWord = PathWord & {readonly isListed: boolean; readonly isExcluded: boolean};

/** @returns whether the word names a folder. @throws UsageError when it names a place that does not exist */
function addWord(word: PlacedWord, named: Named, lookup: Lookup): boolean {
  const {name, before, after, isListed, isExcluded, isMention} = word;
  if (name === '' || name === '.' || /^\*+$/.test(name)) return false;
  const place = lookup.toRelative(name);
  if (place === '') return false;
  if (lookup.isFile(place)) {
    named.files.push(place);
    return false;
  }
  if (isPathPattern(name)) {
    const glob = new Glob(name.replace(/\/$/, '/**'), {braces: true, openStars: true, plainBrackets: true});
    if (name.includes('/')) named.globs.push((file) => glob.matches(file));
    else named.kinds.push((file) => glob.matches(file.slice(file.lastIndexOf('/') + 1)) && isText(file));
    return false;
  }
  if (/^\.\w{1,8}$/.test(name)) {
    named.kinds.push(findKind(name)!);
    return false;
  }
  const isRightAfter = isExcluded && (isListed || RIGHT_AFTER_EXCEPT.test(before));
  const isMarked = isRightAfter || isListed || isMention || name.includes('/') || IN_FOLDER.test(before);
  if ((isMarked || FOLDER_WORD.test(after)) && lookup.isFolder(place)) return named.folders.push(place) > 0;
  if (namesPlace(word, isRightAfter, lookup)) throw createMissingError(name, lookup.root);
  if (!name.includes('/') && (isRightAfter || name.includes('.'))) named.files.push(...lookup.findByName(name));
  return false;
}

/** Whether a path that does not exist says where the work is. It may also be the name of a module, or `and/or`. */
function namesPlace(
  {name, before, after, isListed, isMention}: PlacedWord,
  isRightAfterExcept: boolean,
  lookup: Lookup,
): boolean {
  if (name !== '..' && (!name.includes('/') || /^\d+(?:[/.-]\d+)+$/.test(name))) return false;
  const first = name.slice(0, name.indexOf('/'));
  const isInProject = lookup.isFolder(first) || lookup.isFolder(first.toLowerCase());
  if (isMention && isInProject) return true;
  if (!isListed && !isRightAfterExcept && !IN_PLACE.test(before) && !FOLDER_WORD.test(after)) return false;
  if (isInProject || /^[./~]|\/$|\.\w+$|\/.*\//.test(name)) return true;
  return name !== name.toUpperCase() && (PLACE_END.test(after) || FOLDER_WORD.test(after));
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

  constructor(
    files: readonly string[],
    readonly root: string,
  ) {
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

  /** @returns the path within the root, if it is there, without a slash at its end */
  toRelative(name: string): string {
    return path.relative(this.root, path.resolve(this.root, name));
  }

  /** @returns the files of this name in any folder */
  findByName(name: string): readonly string[] {
    return [...this.#files].filter((file) => file.endsWith(`/${name}`));
  }

  /** Finds the paths that occur in a text and have characters that other paths do not have. The longest is the first. */
  findOddNames(text: string): readonly string[] {
    return [...this.#files, ...this.#folders]
      .filter((name) => /[^\w.@~+,/-]/.test(name) && text.includes(name))
      .sort((a, b) => b.length - a.length);
  }
}

function isBelow(file: string, folders: readonly string[]): boolean {
  return folders.some((folder) => file.startsWith(`${folder}/`));
}
