/** Finds the files that a command line shows to be read or written, for rules about files and for protected files. */
import {basename, join} from 'node:path';
import {listWords} from '../../util/text.ts';
import {WRAPPERS} from '../rules/command-spellings.ts';
import type {ParsedCommand} from './command-parser.ts';
import {type CommandPart, joinPath, toPath} from './command-shape.ts';
import {guessPart, guessWords, type Variables} from './guessed-words.ts';
import {isReadingPart} from './reading-programs.ts';
import type {ShellWord} from './shell-words.ts';

/**
 * The lists may have too many files, never too few. Paths and patterns are relative to where the command starts; `~` is
 * the home directory.
 */
export interface NamedFiles {
  readonly reads: readonly string[];
  /** Patterns of file names. The command reads the files that match. */
  readonly globs: readonly string[];
  /** Files and folders. The command reads files below these folders. */
  readonly searches: readonly string[];
  readonly writes: readonly string[];
  /**
   * Paths in `writes`, and all paths in the words that a program or option may write. Plain words of programs that are
   * known to read are left out, and so are those of known writers that `writes` does not have.
   */
  readonly mayWrite: readonly string[];
}

/** Programs that read files below the folders that they name, or below the current one. */
const SEARCHERS = /^(?:rg|ag|ack|git|grep|egrep|fgrep|diff)$/;

/**
 * @param directories folders in which parts of the command may run, relative to where it starts
 * @param variables values of the variables in its words
 */
export function findNamedFiles(
  {parts: written, shape}: ParsedCommand,
  directories: readonly string[],
  variables: Variables,
): NamedFiles {
  const inAll = (paths: readonly string[]) => [
    ...new Set(directories.flatMap((directory) => paths.map((path) => joinPath(directory, path)))),
  ];
  const guess = (words: readonly ShellWord[]) => words.flatMap((word) => guessWords(word, variables));
  const parts = written.flatMap((part) => guessPart(part, variables));
  const ofParts = parts.flatMap(({expanded, words: [program]}) => (program?.text === 'cd' ? [] : expanded.slice(1)));
  const given = written.some(takesNames) ? shape.texts : [];
  const unclear = (key: 'isRead' | 'isWritten') =>
    guess(shape.unclearFiles.flatMap((each) => (each[key] ? [each.word] : []))).filter(
      (word) => word.kind !== 'unknown',
    );
  const words = [...ofParts, ...guess([...shape.words, ...given]), ...unclear('isRead')];
  const texts = words.flatMap((word) => (word.kind === 'text' ? listPaths(toPath(word)) : []));
  const globs = words.flatMap((word) => (word.kind === 'glob' ? [toPath(word)] : []));
  const writes = [
    ...shape.writes,
    ...unclear('isWritten').map(toPath),
    ...parts.flatMap(({expanded: [program, ...rest]}) =>
      program?.kind === 'text' ? findProgramWrites(program.text, rest) : [],
    ),
    ...parts.flatMap((part) => (isReadingPart(part) ? [] : findOutputs(part.expanded))),
  ];
  const searching = parts.filter(({expanded: [program, ...rest]}) => {
    const name = program?.kind === 'text' ? basename(program.text) : '';
    if (!SEARCHERS.test(name)) return false;
    if (name === 'git') return rest.some((word) => word.kind === 'text' && word.text === 'grep');
    return (
      !/grep|diff/.test(name) ||
      rest.some((word) => word.kind === 'text' && /^-\w*r|^--(?:dereference-)?rec/i.test(word.text))
    );
  });
  const searched = searching.flatMap(({expanded}) =>
    expanded.slice(1).flatMap((word) => (word.kind === 'text' && !word.text.startsWith('-') ? [toPath(word)] : [])),
  );
  return {
    reads: [...directories, ...inAll([...texts, ...shape.inputs])],
    globs: inAll(globs),
    searches: searching.length === 0 ? [] : inAll([...searched, '.']),
    writes: inAll(writes),
    mayWrite: inAll([...writes, ...parts.flatMap(findPossibleWrites)]),
  };
}

/** Returns the folders to which the command may change where bash expands their names, and the home for `cd` alone. */
export function guessFolders({parts, shape}: ParsedCommand, variables: Variables): string[] {
  const targets = parts.flatMap(({words: [program], expanded: [, ...rest]}) => {
    if (!/^(?:cd|pushd)$/.test(program?.text ?? '')) return [];
    if (rest.length === 0) return ['~'];
    const isPlain = program?.text === 'cd' && rest.every(({kind}) => kind === 'text');
    const guesses = isPlain ? [] : rest.flatMap((word) => guessWords(word, variables));
    return guesses.flatMap((word) => (word.kind === 'text' ? [toPath(word)] : []));
  });
  return targets
    .slice(0, MAX_GUESSED_FOLDERS)
    .flatMap((each) => shape.directories.map((folder) => joinPath(folder, each)));
}

const MAX_GUESSED_FOLDERS = 8;

/** Whether a program reads names of files from its input: `xargs cat <<< .env`, `git cat-file --batch <<< HEAD:.env`. */
function takesNames({expanded: [program, ...rest]}: CommandPart): boolean {
  const name = program?.kind === 'text' ? basename(program.text) : '';
  const takes = (text: string) =>
    /^(?:--batch|--stdin|--(?:files|files0|pathspec)-from|--verbatim-files-from|-T)/.test(text);
  return (
    /^(?:xargs|parallel|cpio|read|mapfile|readarray)$/.test(name) ||
    [program, ...rest].some((word) => word?.kind === 'text' && (takes(word.text) || basename(word.text) === 'xargs'))
  );
}

/** Number of one-letter options that may stand in one word before a path. */
const MAX_BUNDLE = 12;

/**
 * Returns the word and its pieces, as in `--file=x`, `-ox`, `-uox`, `if=x`, `a,b`, `w x` and `git show HEAD:x`. Lines, and
 * what `printf` ends by `\\n` or `\\0`, count as words. Inside of a word, `~` is the home only behind `=` and `:`.
 */
function listPaths(text: string): string[] {
  const lines = text.split(/\\[0nt]|\n/);
  if (lines.length > 1) return [text, ...lines.flatMap(listPaths)].filter((each) => each !== '');
  const behind = [...text.matchAll(/[=:@,\s]/g)].map(({0: sign, index}) => {
    const rest = text.slice(index + 1);
    return rest.startsWith('~') && !/[=:]/.test(sign) ? `./${rest}` : rest;
  });
  const pieces = behind.map((each) => each.split(/[=:@,\s]/, 1)[0]!);
  const [letters = ''] = /^-\w+/.exec(text.slice(0, MAX_BUNDLE + 1)) ?? [];
  const attached = [...letters].slice(1).map((_, at) => text.slice(at + 2));
  const all = [...(text.startsWith('-') ? [] : [text]), ...attached, ...behind, ...pieces];
  return [...new Set(all.filter((each) => each !== ''))];
}

/**
 * Returns the paths in the words of a part that it may write. For programs that are known to read or write, a whole
 * plain word does not count: `findProgramWrites` says which of these are written.
 */
function findPossibleWrites(part: CommandPart): string[] {
  const [program, ...rest] = part.expanded;
  const name = program?.kind === 'text' ? basename(program.text) : '';
  const isGitsOwnWork = name === 'git' && isAddOrCommit(rest);
  const isKnown = WRITERS.has(name) || isReadingPart(part);
  return rest.flatMap((word, at) => {
    if (word.kind !== 'text' && word.kind !== 'glob') return [];
    if (isGitsOwnWork && !word.text.startsWith('-')) return [];
    const before = rest[at - 1];
    const isValue = before?.kind === 'text' && before.text.startsWith('-');
    const isPlain = !word.text.startsWith('-') && !(isValue && name === 'git');
    const paths = listPaths(toPath(word));
    return isKnown && isPlain ? paths.filter((each) => each !== toPath(word)) : paths;
  });
}

/** Whether the subcommand of git is one whose plain words are files that it reads: `git add`, not `git worktree add`. */
function isAddOrCommit(words: readonly ShellWord[]): boolean {
  const at = words.findIndex((word) => word.kind !== 'text' || /^(?:add|commit)$/.test(word.text));
  const word = words[at];
  const before = words.slice(0, at).flatMap((each) => (each.kind === 'text' ? [each.text] : []));
  const isOption = (text: string, index: number) => text.startsWith('-') || /^-[Cc]$/.test(before[index - 1] ?? '');
  return word?.kind === 'text' && before.every(isOption);
}

/** These programs change each file in their arguments. */
const WRITES_EACH = new Set(listWords('rm rmdir unlink shred touch truncate tee chmod chown chgrp mkdir mkfifo'));
/** These programs write to the last file in their arguments, or into that folder. */
const WRITES_LAST = new Set(['cp', 'mv', 'ln', 'install', 'rsync']);

const WRITERS = new Set([...WRITES_EACH, ...WRITES_LAST, 'sed', 'perl', 'dd']);

/**
 * Returns the files that the words of a program show it to change. They are protected even if a rule allows the
 * command.
 * @param words words without the program's name
 * @returns paths as the words name them; it may have too many, never too few
 */
function findProgramWrites(program: string, words: readonly ShellWord[]): string[] {
  const name = basename(program);
  if (WRAPPERS.has(name)) {
    const at = words.findIndex((word) => word.kind === 'text' && WRITERS.has(basename(word.text)));
    const writer = words[at];
    return writer?.kind === 'text' ? findProgramWrites(writer.text, words.slice(at + 1)) : [];
  }
  const texts = words.flatMap((word) => (word.kind === 'text' ? [word] : []));
  const options = texts.map(({text}) => text).filter((text) => text.startsWith('-'));
  const files = texts.filter(({text}) => !text.startsWith('-')).map(toPath);
  const hasOption = (pattern: RegExp) => options.some((option) => pattern.test(option));
  if (WRITES_EACH.has(name) || (/^(?:sed|perl)$/.test(name) && hasOption(/^-\w*i|^--in-place/))) return files;
  if (name === 'git') return findGitWrites(texts);
  if (name === 'dd') return files.flatMap((file) => (file.startsWith('of=') ? [file.slice('of='.length)] : []));
  if (!WRITES_LAST.has(name)) return [];
  const named = options.flatMap((option) => /^--target-directory=(.+)$/s.exec(option)?.[1] ?? []);
  const targets = [...named, ...(hasOption(/^-\w*t$/) ? files : files.slice(-1))];
  const into = targets.flatMap((target) => files.map((file) => join(target, basename(file))));
  return [...targets, ...into, ...(name === 'mv' ? files : [])];
}

/** Options whose value, attached or the next word, most programs write. */
const OUTPUT = /^(?:-\w*[oO]|--(?:out|output)(?:-?(?:file|dir|directory|document))?|--directory-prefix)(?:=|$)/i;
/** Further options of some programs that name the folder into which they write. */
const OUTPUT_FOLDERS: Readonly<Record<string, RegExp>> = {
  tar: /^(?:-\w*C|--directory)(?:=|$)/,
  unzip: /^-d$/,
  wget: /^-P$/,
};

function findOutputs([program, ...words]: readonly ShellWord[]): string[] {
  const name = program?.kind === 'text' ? basename(program.text) : '';
  const folders = Object.hasOwn(OUTPUT_FOLDERS, name) ? OUTPUT_FOLDERS[name] : undefined;
  return words.flatMap((word, at) => {
    if (word.kind !== 'text' || !word.text.startsWith('-')) return [];
    const next = words[at + 1];
    const attached = /^(?:-[oO]|--\w[-\w]*=)(.+)$/s.exec(word.text)?.[1];
    const isFolder = folders?.test(word.text) ?? false;
    if (!isFolder && !OUTPUT.test(word.text) && !/^-[oO]./.test(word.text)) return [];
    const named = attached ?? (next?.kind === 'text' ? toPath(next) : undefined);
    return named === undefined ? [] : [named, ...(isFolder ? [join(named, '*')] : [])];
  });
}

/** Returns the files that git writes by its words: those that it moves, removes or restores, and its settings. */
function findGitWrites(words: readonly (ShellWord & {kind: 'text'})[]): string[] {
  const at = words.findIndex(({text}, index) => !text.startsWith('-') && !/^-[Cc]$/.test(words[index - 1]?.text ?? ''));
  const [command, ...rest] = words.slice(Math.max(at, 0));
  const folder = words.slice(0, Math.max(at, 0)).findLast((_, index) => words[index - 1]?.text === '-C');
  const inFolder = (paths: readonly string[]) => paths.map((each) => (folder ? joinPath(toPath(folder), each) : each));
  const files = rest.filter(({text}) => !text.startsWith('-')).map(toPath);
  const has = (pattern: RegExp) => rest.some(({text}) => pattern.test(text));
  switch (command?.text) {
    case 'config': {
      const isRead = files.length < 2 && !has(/^--(?:unset|edit|add|replace|remove|rename)|^-e$/);
      if (isRead || has(/^(?:--(?:get|list)|-l$|get$|list$)/)) return [];
      if (has(/^--global$/)) return ['~/.gitconfig', '~/.config/git/config'];
      return has(/^(?:--system$|--file|-f$)/) ? files : inFolder(['.git/config']);
    }
    case 'mv': {
      const target = files.at(-1) ?? '.';
      return inFolder([...files, ...files.map((file) => join(target, basename(file)))]);
    }
    case 'rm':
      return has(/^--cached$/) ? [] : inFolder(files);
    case 'restore':
    case 'checkout':
      return inFolder(files);
    default:
      return [];
  }
}
