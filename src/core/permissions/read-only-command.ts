/**
 * Proves of a command that it only reads: by a closed list of programs and options, and by what bash is known to do with
 * the words. In doubt it is not proven. It says nothing about which places may be read: that is judged by `reads`.
 */
import type {
  Command,
  CommandNode,
  CompoundCommand,
  CompoundList,
  ParsedScript,
  PipelineNode,
  Redirection,
  Statement,
  TestExpression,
  Word,
} from 'unbash';
import {pathOf, type Reading, readAll, textsOf} from './program-options.ts';
import {readerOf} from './read-only-programs.ts';
import {checkTest} from './read-only-scripts.ts';
import {type After, either, goesDownAndUp, type Places, START, stay, under, union} from './shell-places.ts';
import {NotProven, parseShell} from './shell-script.ts';
import {readWord, type ShellWord} from './shell-words.ts';

export interface Proven {
  readonly proven: true;
  /**
   * Paths that it may read, as its words have them: relative to where it starts, `~` for the home directory, `..` not
   * yet taken out, since behind a link it leads elsewhere.
   */
  readonly reads: readonly string[];
  /** Patterns of file names; each file that matches is read. */
  readonly globs: readonly string[];
  /** Where git looks for a repository, whose settings may name programs to run. */
  readonly repositories: readonly string[];
}

export type Proof = Proven | {readonly proven: false; readonly why: string};

/** @returns whether every part of `command`, run by bash, is known to only read. Never rejects for a command's sake. */
export async function proveReadOnly(command: string): Promise<Proof> {
  try {
    const {script} = await parseShell(command);
    const walk = new Walk();
    walk.list(script, START);
    if (!walk.ran) throw new NotProven('it holds no command');
    return {proven: true, reads: [...walk.reads], globs: [...walk.globs], repositories: [...walk.repositories]};
  } catch (error) {
    if (error instanceof NotProven) return {proven: false, why: error.message};
    throw error;
  }
}

class Walk {
  readonly reads = new Set<string>();
  readonly globs = new Set<string>();
  readonly repositories = new Set<string>();
  ran = false;
  /** In a loop or a branch `cd` would need to be followed round and round. */
  #mayMove = true;

  list(list: CompoundList | ParsedScript, places: Places): Places {
    return list.commands.reduce((now, statement) => either(this.#statement(statement, now)), places);
  }

  #statement(statement: Statement, places: Places): After {
    if (statement.background) throw new NotProven('it goes on in the background');
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
    if (node.type === 'Function' || node.type === 'Coproc') throw new NotProven('it defines what it runs');
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
        this.#test(node.expression, places);
        return stay(places);
      default:
        throw new NotProven(`a ${node.type} is not understood`);
    }
  }

  #inPlace(places: Places, walk: () => void): After {
    const before = this.#mayMove;
    this.#mayMove = false;
    walk();
    this.#mayMove = before;
    return stay(places);
  }

  #simple(node: Command, places: Places): After {
    if (node.prefix.some(({type}) => type === 'Assignment')) throw new NotProven('it sets a variable');
    this.#redirects(node.redirects, places);
    if (!node.name) {
      // `< file`, which `$(< file)` makes a way to read it.
      if (node.redirects.length === 0) throw new NotProven('it holds no command');
      this.ran = true;
      return stay(places);
    }
    const args = node.args.map((arg) => {
      if (arg.type === 'Assignment') throw new NotProven('it sets a variable');
      return arg;
    });
    const [program, ...words] = this.#words([node.name, ...args], places);
    if (program?.kind !== 'text' || program.home) throw new NotProven('what it runs is known only when it runs');
    this.ran = true;
    if (program.text === 'cd') return this.#move(words, places);
    const name = program.text.replace(/^\/(?:usr\/)?bin\/(?=[^/]+$)/, '');
    const read = readerOf(name);
    if (!read) throw new NotProven(`${name} is not known to only read`);
    const {repositories, ...reading} = this.#named(name, () => read(words));
    this.#note(reading, places);
    for (const folder of repositories) for (const place of places) this.repositories.add(under(place, folder));
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
      if (redirect.type === 'HereDoc') throw new NotProven('it brings a text of its own');
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
      if (!/^(?:[012]|-)$/.test(text)) throw new NotProven('it writes to a file');
    } else if (operator === '<') {
      // No files: bash opens connections by these names.
      if (/\/dev\/+(?:tcp|udp)\//.test(text)) throw new NotProven('it reaches the network');
      this.#note({paths: [pathOf(target)], globs: []}, places);
    } else if (text !== '/dev/null' || !/^(?:>|>>|&>|&>>)$/.test(operator)) {
      throw new NotProven('it writes to a file');
    }
  }

  /** Words once they are expanded; what runs in their substitutions is walked too. */
  #words(words: readonly Word[], places: Places): ShellWord[] {
    return words.flatMap((word) => {
      const read = readWord(word);
      for (const script of read.scripts) this.list(script, places);
      return read.words;
    });
  }

  /** `[[ … ]]`: words beside `-eq` and the like are evaluated as arithmetic, which may run code. */
  #test(expression: TestExpression, places: Places): void {
    switch (expression.type) {
      case 'TestUnary': {
        const operand = this.#words([expression.operand], places);
        const operator: ShellWord = {kind: 'text', text: expression.operator, home: false};
        this.#note(checkTest([operator, ...operand.slice(0, 1)]), places);
        if (operand.length !== 1) throw new NotProven('[[: it was not understood');
        return;
      }
      case 'TestBinary': {
        if (!/^(?:==?|!=|<|>|=~|-nt|-ot|-ef)$/.test(expression.operator)) throw new NotProven('[[: it may run code');
        const reading: Reading = {paths: [], globs: []};
        const words = this.#words([expression.left], places);
        const right = expression.operator === '=~' ? [] : this.#words([expression.right], places);
        if (expression.operator === '=~' && /[$`\\]/.test(expression.right.text))
          throw new NotProven('[[: it may run code');
        if (expression.operator.startsWith('-')) {
          textsOf([...words, ...right]);
          readAll([...words, ...right], reading);
        }
        this.#note(reading, places);
        return;
      }
      case 'TestLogical':
        for (const operand of expression.operands) this.#test(operand, places);
        return;
      case 'TestNot':
        this.#test(expression.operand, places);
        return;
      case 'TestGroup':
        this.#test(expression.expression, places);
    }
  }

  #note({paths, globs}: Reading, places: Places): void {
    for (const place of places) {
      for (const path of paths) this.reads.add(under(place, path));
      for (const glob of globs) this.globs.add(under(place, glob));
    }
  }
}
