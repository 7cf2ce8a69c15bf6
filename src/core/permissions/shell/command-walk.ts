/**
 * Walks through a parsed command as bash would run it, and collects what each part reads and writes, and in which
 * directory. A part that is not known to only read must be permitted by a rule; what is not understood is an error.
 */
import {basename, join} from 'node:path';
import type {
  Command,
  CommandNode,
  CompoundCommand,
  CompoundList,
  Coproc,
  Function as FunctionNode,
  HereDoc,
  ParsedScript,
  PipelineNode,
  Redirection,
  Statement,
  Word,
} from 'unbash';
import {WRAPPERS} from '../rules/command-spellings.ts';
import {addPaths, type Reading, toPath} from './program-options.ts';
import {getReader, isBuiltIn} from './read-only-programs.ts';
import {readTestExpression} from './read-only-scripts.ts';
import {
  CHANGES_THE_SHELL,
  checkAssignment,
  type Directories,
  type DirectoriesAfter,
  goesDownAndUp,
  joinPath,
  mergeDirectories,
  START,
  stay,
  union,
} from './shell-state.ts';
import {NotProven, readText, readWord, type ShellWord} from './shell-words.ts';

/** A rule permits this part: it may do more than read. */
export type PermitsPart = (part: Command) => boolean;

/** Paths and patterns are relative to where the command starts; `~` is the home directory, `..` is not resolved. */
export class CommandWalk {
  readonly reads = new Set<string>();
  /** Patterns of file names: all files that match are read. */
  readonly globs = new Set<string>();
  /** Where git looks for a repository, whose settings may name programs to run. */
  readonly repositories = new Set<string>();
  /** Those of `reads` below which the command looks into files. */
  readonly searches = new Set<string>();
  /** Files that redirections write. */
  readonly writes = new Set<string>();
  /** Files that programs write, by their words. Only of programs that a rule permits, or that may do more than read. */
  readonly programWrites = new Set<string>();
  /** Some part was permitted by a rule, not by what is known of its program. */
  byRule = false;
  /** Some part is a program outside of bash that is known to only read. */
  readsByProgram = false;
  /** There is something to run. */
  ran = false;
  /** False in loops and branches: where a `cd` there leads is not followed. */
  #mayMove = true;
  /** False once some part may have changed what words mean to the shell. */
  #isShellKnown = true;

  /**
   * @param permits a part that it permits is not checked
   * @param isTolerant goes on behind a part that is not known to only read; its words count as files that it reads
   */
  constructor(
    private readonly permits: PermitsPart = () => false,
    private readonly isTolerant = false,
  ) {}

  /**
   * @returns where the shell may be afterwards
   * @throws NotProven for a part that is neither permitted nor known to only read, or that is not understood
   */
  walk(list: CompoundList | ParsedScript, directories: Directories = START): Directories {
    return list.commands.reduce((now, statement) => mergeDirectories(this.#walkStatement(statement, now)), directories);
  }

  #walkStatement(statement: Statement, directories: Directories): DirectoriesAfter {
    if (statement.background && !this.isTolerant) throw new NotProven('it goes on in the background');
    const {command} = statement;
    if (command.type !== 'AndOr') return this.#walkPipeline(command, directories);
    const [first, ...rest] = command.commands;
    if (!first) throw new NotProven('it contains no command');
    let before = this.#walkPipeline(first, directories);
    for (const [index, next] of rest.entries()) {
      const isAnd = command.operators[index] === '&&';
      const then = this.#walkPipeline(next, isAnd ? before.succeeded : before.failed);
      before = isAnd
        ? {succeeded: then.succeeded, failed: union(before.failed, then.failed)}
        : {succeeded: union(before.succeeded, then.succeeded), failed: then.failed};
    }
    return before;
  }

  #walkPipeline(node: PipelineNode, directories: Directories): DirectoriesAfter {
    if (node.type !== 'Pipeline') return this.#walkCommand(node, directories);
    const isNegated = node.prefixes.filter(({type}) => type === 'Negation').length % 2 === 1;
    if (node.commands.length === 1) {
      const {succeeded, failed} = this.#walkCommand(node.commands[0]!, directories);
      return isNegated ? {succeeded: failed, failed: succeeded} : {succeeded, failed};
    }
    // Each command of a pipeline runs in a shell of its own.
    for (const command of node.commands) this.#walkCommand(command, directories);
    return stay(directories);
  }

  #walkCommand(node: CommandNode, directories: Directories): DirectoriesAfter {
    if (node.type === 'Command') return this.#walkSimple(node, directories);
    if (node.type === 'Redirected') {
      this.#addRedirections(node.redirects, directories);
      return this.#walkCompound(node.command, directories);
    }
    if (node.type === 'Function' || node.type === 'Coproc') return this.#walkDefinition(node, directories);
    return this.#walkCompound(node, directories);
  }

  #walkCompound(node: CompoundCommand, directories: Directories): DirectoriesAfter {
    switch (node.type) {
      case 'Subshell':
        this.walk(node.body, directories);
        return stay(directories);
      case 'BraceGroup':
        return stay(this.walk(node.body, directories));
      case 'If':
        return this.#walkWithoutMoves(directories, () => {
          for (const {clause, then} of [node, ...node.elif]) {
            this.walk(clause, directories);
            this.walk(then, directories);
          }
          if (node.else) this.walk(node.else, directories);
        });
      case 'For':
        // The loop sets its variable, and some variables of bash change what it runs. Those have upper case names.
        if (!/^[a-z]\w{0,15}$/.test(node.name.text)) throw new NotProven('it sets a variable');
        return this.#walkWithoutMoves(directories, () => {
          this.#expand(node.wordlist ?? [], directories);
          this.walk(node.body, directories);
        });
      case 'TestCommand':
        this.ran = true;
        this.#addReading(
          readTestExpression(node.expression, (word) => this.#expand([word], directories)),
          directories,
        );
        return stay(directories);
      default:
        if (this.isTolerant && 'body' in node && typeof node.body === 'object') this.walk(node.body, directories);
        else throw new NotProven(`a ${node.type} is not understood`);
        return stay(directories);
    }
  }

  #walkDefinition({body}: FunctionNode | Coproc, directories: Directories): DirectoriesAfter {
    if (!this.isTolerant) throw new NotProven('it defines what it runs');
    if (body.type === 'CompoundList') return stay(this.walk(body, directories));
    return this.#walkCommand(body, directories);
  }

  #walkWithoutMoves(directories: Directories, walk: () => void): DirectoriesAfter {
    const before = this.#mayMove;
    this.#mayMove = false;
    walk();
    this.#mayMove = before;
    return stay(directories);
  }

  #walkSimple(node: Command, directories: Directories): DirectoriesAfter {
    const isPermitted = node.name !== undefined && this.permits(node);
    for (const each of node.prefix) {
      if (each.type === 'Assignment' && !this.isTolerant) checkAssignment(each, isPermitted);
    }
    this.#addRedirections(node.redirects, directories);
    if (!node.name) {
      // `< file` alone reads it where it stands in `$(< file)`.
      if (node.redirects.length === 0) throw new NotProven('it contains no command');
      this.ran = true;
      return stay(directories);
    }
    if (isPermitted) return this.#walkPermitted(node, node.name, directories);
    const args = node.args.flatMap((arg) => {
      if (arg.type === 'Word') return [arg];
      if (this.isTolerant) return [];
      throw new NotProven('it sets a variable');
    });
    const [program, ...words] = this.#expand([node.name, ...args], directories);
    this.ran = true;
    try {
      return this.#walkReader(program, words, directories);
    } catch (error) {
      if (!(error instanceof NotProven) || !this.isTolerant) throw error;
      const reading: Reading = {paths: [], globs: []};
      addPaths(words, reading);
      this.#addReading(reading, directories);
      if (program?.kind === 'text') this.#addProgramWrites(program.text, words, directories);
      return stay(directories);
    }
  }

  /** A program that must be known to only read. */
  #walkReader(program: ShellWord | undefined, words: readonly ShellWord[], directories: Directories): DirectoriesAfter {
    if (program?.kind !== 'text' || program.home) throw new NotProven('what it runs is known only when it runs');
    if (program.text === 'cd') return this.#move(words, directories);
    const name = program.text.replace(/^\/(?:usr\/)?bin\/(?=[^/]+$)/, '');
    const read = getReader(name);
    if (!this.#isShellKnown) throw new NotProven(`${name} runs in a shell that was changed before`);
    if (!read) throw new NotProven(`${name} is not known to only read`);
    const {repositories, searches, ...reading} = nameInErrors(name, () => read(words));
    this.readsByProgram ||= !isBuiltIn(name);
    this.#addReading(reading, directories);
    if (searches) addAll(this.searches, directories, reading.paths);
    addAll(this.repositories, directories, repositories);
    return stay(directories);
  }

  /** A command that a rule permits. */
  #walkPermitted(node: Command, name: Word, directories: Directories): DirectoriesAfter {
    const args = node.args.flatMap((arg) => (arg.type === 'Word' ? [arg] : []));
    if (args.length < node.args.length) this.#isShellKnown = false;
    const [program, ...words] = this.#expand([name, ...args], directories);
    if (program?.kind !== 'text') throw new NotProven('what it runs is known only when it runs');
    this.ran = true;
    this.byRule = true;
    if (program.text === 'cd') throw new NotProven('cd: a rule does not say where it leads');
    if (CHANGES_THE_SHELL.has(program.text)) this.#isShellKnown = false;
    this.#addProgramWrites(program.text, words, directories);
    return stay(directories);
  }

  /** Behind a link `..` means one directory to `cd` and another to programs, so such a move is not followed. */
  #move(words: readonly ShellWord[], directories: Directories): DirectoriesAfter {
    const [word, ...more] = words;
    if (word?.kind !== 'text' || more.length > 0 || /^-|^$/.test(word.text))
      throw new NotProven('cd: where it leads is not plain');
    if (!this.#mayMove) throw new NotProven('cd: it moves in a loop or a branch');
    const target = toPath(word);
    const moved = [...new Set(directories.map((directory) => joinPath(directory, target)))];
    if (moved.some(goesDownAndUp)) throw new NotProven('cd: it goes down and up again');
    this.#addReading({paths: [target], globs: []}, directories);
    return {succeeded: moved, failed: directories};
  }

  #addRedirections(redirections: readonly Redirection[], directories: Directories): void {
    for (const redirection of redirections) {
      if (redirection.descriptor?.type === 'FileDescriptorVariable') throw new NotProven('it sets a variable');
      const descriptor = redirection.descriptor?.value ?? 0;
      // Other descriptors belong to the process that started the shell.
      if (descriptor > 2) throw new NotProven('it uses a descriptor of its own');
      if (redirection.type === 'HereDoc') {
        this.#walkHereDoc(redirection, directories);
        continue;
      }
      if (!redirection.target) throw new NotProven('it was not understood');
      const words = this.#expand([redirection.target], directories);
      if (redirection.type === 'HereString') continue;
      const [target, ...more] = words;
      if (target?.kind !== 'text' || more.length > 0) throw new NotProven('where it is redirected to is not plain');
      this.#addRedirection(redirection.operator, target, directories);
    }
  }

  #addRedirection(operator: string, target: ShellWord & {kind: 'text'}, directories: Directories): void {
    const {text} = target;
    if (operator === '>&' || operator === '<&') {
      if (!/^(?:[012]|-)$/.test(text)) throw new NotProven('where it is redirected to is not plain');
    } else if (operator === '<') {
      // These names are no files: bash opens network connections by them.
      if (/\/dev\/+(?:tcp|udp)\//.test(text)) throw new NotProven('it reaches the network');
      this.#addReading({paths: [toPath(target)], globs: []}, directories);
    } else if (!/^(?:>|>>|&>|&>>|>\|)$/.test(operator) || /\/dev\/+(?:tcp|udp)\//.test(text)) {
      throw new NotProven('where it is redirected to is not plain');
    } else if (text !== '/dev/null') {
      addAll(this.writes, directories, [toPath(target)]);
    }
  }

  /** Substitutions run in the text of a here-document, unless the word that ends it is quoted. */
  #walkHereDoc({body, closing}: HereDoc, directories: Directories): void {
    if (!closing) throw new NotProven('its text does not end');
    for (const script of readText(body.parts ?? [])) this.walk(script, directories);
  }

  /** Expands words as bash would, and walks through the scripts of their substitutions. */
  #expand(words: readonly Word[], directories: Directories): ShellWord[] {
    return words.flatMap((word) => {
      const read = readWord(word);
      for (const script of read.scripts) this.walk(script, directories);
      return read.words;
    });
  }

  #addProgramWrites(program: string, words: readonly ShellWord[], directories: Directories): void {
    addAll(this.programWrites, directories, findProgramWrites(program, words));
  }

  #addReading({paths, globs}: Reading, directories: Directories): void {
    addAll(this.reads, directories, paths);
    addAll(this.globs, directories, globs);
  }
}

function addAll(found: Set<string>, directories: Directories, paths: readonly string[]): void {
  for (const directory of directories) for (const path of paths) found.add(joinPath(directory, path));
}

function nameInErrors<T>(program: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof NotProven) throw new NotProven(`${program}: ${error.message}`, {cause: error});
    throw error;
  }
}

/** These programs change each file that they are given. */
const WRITES_EACH = new Set(['rm', 'rmdir', 'unlink', 'shred', 'touch', 'truncate', 'tee', 'chmod', 'chown', 'chgrp']);
/** These programs write to the last file that they are given, or into that folder. */
const WRITES_LAST = new Set(['cp', 'mv', 'ln', 'install', 'rsync']);

const WRITERS = new Set([...WRITES_EACH, ...WRITES_LAST, 'sed', 'perl', 'dd']);

/**
 * The files that the words of a program show it to change. They are protected also where a rule allows the command.
 * @param words without the program's name
 * @returns paths as the words name them; rather one too many
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
  if (name === 'dd') return files.flatMap((file) => (file.startsWith('of=') ? [file.slice('of='.length)] : []));
  if (!WRITES_LAST.has(name)) return [];
  const named = options.flatMap((option) => /^--target-directory=(.+)$/s.exec(option)?.[1] ?? []);
  const targets = [...named, ...(hasOption(/^-\w*t$/) ? files : files.slice(-1))];
  const into = targets.flatMap((target) => files.map((file) => join(target, basename(file))));
  return [...targets, ...into, ...(name === 'mv' ? files : [])];
}
