/**
 * Walks through a command as bash would run it: what each part reads and writes, and where. Whoever is not known to only
 * read has to be permitted by a rule; what is not understood is an error.
 */
import path from 'node:path';
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
import {WRAPPERS} from '../rules/command-rule.ts';
import {pathOf, type Reading, readAll} from './program-options.ts';
import {isBuiltIn, readerOf} from './read-only-programs.ts';
import {readTest} from './read-only-scripts.ts';
import {
  type After,
  CHANGES_THE_SHELL,
  checkAssignment,
  either,
  goesDownAndUp,
  type Places,
  stay,
  under,
  union,
} from './shell-state.ts';
import {NotProven, readText, readWord, type ShellWord} from './shell-words.ts';

/** A part runs by this, whatever it does. */
export type PermitsPart = (part: Command) => boolean;

export class CommandWalk {
  readonly reads = new Set<string>();
  readonly globs = new Set<string>();
  readonly repositories = new Set<string>();
  /** Those of `reads` below which it looks into files. */
  readonly searches = new Set<string>();
  /** Files that redirections write. */
  readonly writes = new Set<string>();
  /** Files that programs are seen to write which a rule permits, or which are not known to only read. */
  readonly programWrites = new Set<string>();
  /** Some part was permitted by a rule, not by what is known of it. */
  byRule = false;
  /** Some part is a program that is known to only read. */
  readsByProgram = false;
  ran = false;
  /** In a loop or a branch `cd` would need to be followed round and round. */
  #mayMove = true;
  #isShellKnown = true;

  /**
   * @param permits such a part is not looked into.
   * @param isTolerant goes on where something is not known to only read, and takes its words for files that are read.
   */
  constructor(
    private readonly permits: PermitsPart = () => false,
    private readonly isTolerant = false,
  ) {}

  list(list: CompoundList | ParsedScript, places: Places): Places {
    return list.commands.reduce((now, statement) => either(this.#statement(statement, now)), places);
  }

  #statement(statement: Statement, places: Places): After {
    if (statement.background && !this.isTolerant) throw new NotProven('it goes on in the background');
    const {command} = statement;
    if (command.type !== 'AndOr') return this.#pipeline(command, places);
    const [first, ...rest] = command.commands;
    if (!first) throw new NotProven('it holds no command');
    let after = this.#pipeline(first, places);
    for (const [index, next] of rest.entries()) {
      const isAnd = command.operators[index] === '&&';
      const then = this.#pipeline(next, isAnd ? after.succeeded : after.failed);
      after = isAnd
        ? {succeeded: then.succeeded, failed: union(after.failed, then.failed)}
        : {succeeded: union(after.succeeded, then.succeeded), failed: then.failed};
    }
    return after;
  }

  #pipeline(node: PipelineNode, places: Places): After {
    if (node.type !== 'Pipeline') return this.#command(node, places);
    const negated = node.prefixes.filter(({type}) => type === 'Negation').length % 2 === 1;
    if (node.commands.length === 1) {
      const {succeeded, failed} = this.#command(node.commands[0]!, places);
      return negated ? {succeeded: failed, failed: succeeded} : {succeeded, failed};
    }
    // Each in a shell of its own.
    for (const command of node.commands) this.#command(command, places);
    return stay(places);
  }

  #command(node: CommandNode, places: Places): After {
    if (node.type === 'Command') return this.#simple(node, places);
    if (node.type === 'Redirected') {
      this.#redirects(node.redirects, places);
      return this.#compound(node.command, places);
    }
    if (node.type === 'Function' || node.type === 'Coproc') return this.#defined(node, places);
    return this.#compound(node, places);
  }

  #compound(node: CompoundCommand, places: Places): After {
    switch (node.type) {
      case 'Subshell':
        this.list(node.body, places);
        return stay(places);
      case 'BraceGroup':
        return stay(this.list(node.body, places));
      case 'If':
        return this.#inPlace(places, () => {
          for (const {clause, then} of [node, ...node.elif]) {
            this.list(clause, places);
            this.list(then, places);
          }
          if (node.else) this.list(node.else, places);
        });
      case 'For':
        // Its variable is set, and some variables of bash change what it runs.
        if (!/^[a-z]\w{0,15}$/.test(node.name.text)) throw new NotProven('it sets a variable');
        return this.#inPlace(places, () => {
          this.#words(node.wordlist ?? [], places);
          this.list(node.body, places);
        });
      case 'TestCommand':
        this.ran = true;
        this.#note(
          readTest(node.expression, (word) => this.#words([word], places)),
          places,
        );
        return stay(places);
      default:
        if (this.isTolerant && 'body' in node && typeof node.body === 'object') this.list(node.body, places);
        else throw new NotProven(`a ${node.type} is not understood`);
        return stay(places);
    }
  }

  #defined({body}: FunctionNode | Coproc, places: Places): After {
    if (!this.isTolerant) throw new NotProven('it defines what it runs');
    if (body.type === 'CompoundList') return stay(this.list(body, places));
    return this.#command(body, places);
  }

  #inPlace(places: Places, walk: () => void): After {
    const before = this.#mayMove;
    this.#mayMove = false;
    walk();
    this.#mayMove = before;
    return stay(places);
  }

  #simple(node: Command, places: Places): After {
    const isPermitted = node.name !== undefined && this.permits(node);
    for (const each of node.prefix) {
      if (each.type === 'Assignment' && !this.isTolerant) checkAssignment(each, isPermitted);
    }
    this.#redirects(node.redirects, places);
    if (!node.name) {
      // `< file`, which `$(< file)` makes a way to read it.
      if (node.redirects.length === 0) throw new NotProven('it holds no command');
      this.ran = true;
      return stay(places);
    }
    if (isPermitted) return this.#permitted(node, node.name, places);
    const args = node.args.flatMap((arg) => {
      if (arg.type === 'Word') return [arg];
      if (this.isTolerant) return [];
      throw new NotProven('it sets a variable');
    });
    const [program, ...words] = this.#words([node.name, ...args], places);
    this.ran = true;
    try {
      return this.#reads(program, words, places);
    } catch (error) {
      if (!(error instanceof NotProven) || !this.isTolerant) throw error;
      const reading: Reading = {paths: [], globs: []};
      readAll(words, reading);
      this.#note(reading, places);
      if (program?.kind === 'text') this.#noteWrites(program.text, words, places);
      return stay(places);
    }
  }

  #reads(program: ShellWord | undefined, words: readonly ShellWord[], places: Places): After {
    if (program?.kind !== 'text' || program.home) throw new NotProven('what it runs is known only when it runs');
    if (program.text === 'cd') return this.#move(words, places);
    const name = program.text.replace(/^\/(?:usr\/)?bin\/(?=[^/]+$)/, '');
    const read = readerOf(name);
    if (!this.#isShellKnown) throw new NotProven(`${name} runs in a shell that was changed before`);
    if (!read) throw new NotProven(`${name} is not known to only read`);
    const {repositories, searches, ...reading} = this.#named(name, () => read(words));
    this.readsByProgram ||= !isBuiltIn(name);
    this.#note(reading, places);
    if (searches) for (const path of reading.paths) for (const place of places) this.searches.add(under(place, path));
    for (const folder of repositories) for (const place of places) this.repositories.add(under(place, folder));
    return stay(places);
  }

  #permitted(node: Command, name: Word, places: Places): After {
    const words = node.args.flatMap((arg) => (arg.type === 'Word' ? [arg] : []));
    if (words.length < node.args.length) this.#isShellKnown = false;
    const [program, ...rest] = this.#words([name, ...words], places);
    if (program?.kind !== 'text') throw new NotProven('what it runs is known only when it runs');
    this.ran = true;
    this.byRule = true;
    if (program.text === 'cd') throw new NotProven('cd: where to is not followed by a rule');
    if (CHANGES_THE_SHELL.has(program.text)) this.#isShellKnown = false;
    this.#noteWrites(program.text, rest, places);
    return stay(places);
  }

  #named<T>(program: string, work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (error instanceof NotProven) throw new NotProven(`${program}: ${error.message}`, {cause: error});
      throw error;
    }
  }

  /** `cd` goes by the names it went through, `cat` by what is there: after a link the two would part. */
  #move(words: readonly ShellWord[], places: Places): After {
    const [word, ...more] = words;
    if (word?.kind !== 'text' || more.length > 0 || /^-|^$/.test(word.text))
      throw new NotProven('cd: where to is not plain');
    if (!this.#mayMove) throw new NotProven('cd: it moves in a loop or a branch');
    const to = pathOf(word);
    if (places.some((place) => goesDownAndUp(under(place, to)))) throw new NotProven('cd: it goes down and up again');
    this.#note({paths: [to], globs: []}, places);
    const moved = [...new Set(places.map((place) => under(place, to)))];
    return {succeeded: moved, failed: places};
  }

  #redirects(redirects: readonly Redirection[], places: Places): void {
    for (const redirect of redirects) {
      if (redirect.descriptor?.type === 'FileDescriptorVariable') throw new NotProven('it sets a variable');
      const descriptor = redirect.descriptor?.value ?? 0;
      // Others belong to whoever started it.
      if (descriptor > 2) throw new NotProven('it uses a descriptor of its own');
      if (redirect.type === 'HereDoc') {
        this.#hereDoc(redirect, places);
        continue;
      }
      if (!redirect.target) throw new NotProven('it was not understood');
      const words = this.#words([redirect.target], places);
      if (redirect.type === 'HereString') continue;
      const [target, ...more] = words;
      if (target?.kind !== 'text' || more.length > 0) throw new NotProven('where it is redirected to is not plain');
      this.#redirect(redirect.operator, target, places);
    }
  }

  #redirect(operator: string, target: ShellWord & {kind: 'text'}, places: Places): void {
    const {text} = target;
    if (operator === '>&' || operator === '<&') {
      if (!/^(?:[012]|-)$/.test(text)) throw new NotProven('where it is redirected to is not plain');
    } else if (operator === '<') {
      // No files: bash opens connections by these names.
      if (/\/dev\/+(?:tcp|udp)\//.test(text)) throw new NotProven('it reaches the network');
      this.#note({paths: [pathOf(target)], globs: []}, places);
    } else if (!/^(?:>|>>|&>|&>>|>\|)$/.test(operator) || /\/dev\/+(?:tcp|udp)\//.test(text)) {
      throw new NotProven('where it is redirected to is not plain');
    } else if (text !== '/dev/null') {
      for (const place of places) this.writes.add(under(place, pathOf(target)));
    }
  }

  /** A text of its own, in which substitutions run unless its end is quoted. */
  #hereDoc({body, closing}: HereDoc, places: Places): void {
    if (!closing) throw new NotProven('its text does not end');
    for (const script of readText(body.parts ?? [])) this.list(script, places);
  }

  /** Words once they are expanded; what runs in their substitutions is walked too. */
  #words(words: readonly Word[], places: Places): ShellWord[] {
    return words.flatMap((word) => {
      const read = readWord(word);
      for (const script of read.scripts) this.list(script, places);
      return read.words;
    });
  }

  #noteWrites(program: string, words: readonly ShellWord[], places: Places): void {
    const files = visibleWrites(program, words);
    for (const place of places) for (const file of files) this.programWrites.add(under(place, file));
  }

  #note({paths, globs}: Reading, places: Places): void {
    for (const place of places) {
      for (const path of paths) this.reads.add(under(place, path));
      for (const glob of globs) this.globs.add(under(place, glob));
    }
  }
}

/** Change each file that they are given. */
const EACH = new Set(['rm', 'rmdir', 'unlink', 'shred', 'touch', 'truncate', 'tee', 'chmod', 'chown', 'chgrp']);
/** Write to the last one, or into it. */
const INTO = new Set(['cp', 'mv', 'ln', 'install', 'rsync']);

const WRITERS = new Set([...EACH, ...INTO, 'sed', 'perl', 'dd']);

/** @param words without the program's name. @returns paths as the words have them; rather one too many. */
function visibleWrites(program: string, words: readonly ShellWord[]): string[] {
  const name = path.basename(program);
  if (WRAPPERS.has(name)) {
    const at = words.findIndex((word) => word.kind === 'text' && WRITERS.has(path.basename(word.text)));
    const writer = words[at];
    return writer?.kind === 'text' ? visibleWrites(writer.text, words.slice(at + 1)) : [];
  }
  const texts = words.flatMap((word) => (word.kind === 'text' ? [word] : []));
  const options = texts.map(({text}) => text).filter((text) => text.startsWith('-'));
  const files = texts.filter(({text}) => !text.startsWith('-')).map(pathOf);
  const has = (pattern: RegExp) => options.some((option) => pattern.test(option));
  if (EACH.has(name) || (/^(?:sed|perl)$/.test(name) && has(/^-\w*i|^--in-place/))) return files;
  if (name === 'dd') return files.flatMap((file) => (file.startsWith('of=') ? [file.slice('of='.length)] : []));
  if (!INTO.has(name)) return [];
  const named = options.flatMap((option) => /^--target-directory=(.+)$/s.exec(option)?.[1] ?? []);
  const targets = [...named, ...(has(/^-\w*t$/) ? files : files.slice(-1))];
  const into = targets.flatMap((target) => files.map((file) => path.join(target, path.basename(file))));
  return [...targets, ...into, ...(name === 'mv' ? files : [])];
}
