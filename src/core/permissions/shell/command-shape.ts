/** What a parsed command shows beside the words of its programs: where it moves, and which files its redirections use. */
import type {Assignment, Command, Redirection, SyntaxNode} from 'unbash';
import {checkText, readWord, type ShellWord, UnclearCommand} from './shell-words.ts';

export interface CommandPart {
  readonly node: Command;
  /** The program's name comes first. */
  readonly words: readonly PartWord[];
  /** What bash makes of them. A word that may be more than its text shows is `unknown`. */
  readonly expanded: readonly ShellWord[];
}

export interface PartWord {
  /** As written, with its quotes. */
  readonly raw: string;
  /** After bash has expanded it, where that is known before the command runs. */
  readonly text?: string;
}

export interface CommandShape {
  /**
   * The folders in which its parts may run, relative to where it starts: after `cd a` that is `a`, and where `cd` fails the
   * one before it. Rather too many.
   */
  readonly directories: readonly string[];
  /** Files that redirections write and read: absolute, with `~/`, or relative to one of `directories`. */
  readonly writes: readonly string[];
  readonly inputs: readonly string[];
  /** The words that loops go through, and the values of variables. */
  readonly words: readonly ShellWord[];
  /** Names that it sets: variables of loops and assignments. */
  readonly variables: ReadonlySet<string>;
  /** It goes on in the background, or defines what it runs. */
  readonly isDetached: boolean;
  /** Why more may run than its parts show, or in other folders; undefined when it is as its text shows. */
  readonly doubt?: string;
}

/** After these, how often a part runs and in which folder is not plain. */
const COMPOUND = /^(?:Case|CaseItem|While|Select|ArithmeticFor|ArithmeticCommand|TestCommand|Function|Coproc)$/;

/** @param nodes all of the command, in the order of the text */
export function findShape(nodes: readonly SyntaxNode[], parts: readonly CommandPart[]): CommandShape {
  const found = new ShapeFinder();
  for (const node of nodes) found.add(node);
  for (const part of parts) found.move(part, nodes);
  return found;
}

class ShapeFinder implements CommandShape {
  readonly directories = ['.'];
  readonly writes: string[] = [];
  readonly inputs: string[] = [];
  readonly words: ShellWord[] = [];
  readonly variables = new Set<string>();
  isDetached = false;
  doubt?: string;

  add(node: SyntaxNode): void {
    if (COMPOUND.test(node.type)) this.#doubt(`a ${node.type} is not understood`);
    if (node.type === 'Function' || node.type === 'Coproc') this.isDetached = true;
    try {
      this.#add(node);
    } catch (error) {
      if (!(error instanceof UnclearCommand)) throw error;
      this.#doubt(error.message);
    }
  }

  #add(node: SyntaxNode): void {
    switch (node.type) {
      case 'Statement':
        if (!node.background) return;
        this.isDetached = true;
        throw new UnclearCommand('it goes on in the background');
      case 'Assignment':
        this.variables.add(node.name);
        if (node.value.type === 'Word') this.words.push(...readWord(node.value));
        return;
      case 'For':
        this.variables.add(node.name.text);
        for (const word of node.wordlist ?? []) this.words.push(...readWord(word));
        // Some variables of bash change what it runs. Those have upper case names.
        if (!/^[a-z]\w{0,15}$/.test(node.name.text)) throw new UnclearCommand('it sets a variable');
        return;
      case 'Command':
        if (!node.name) throw new UnclearCommand('it contains no command');
        return;
      case 'Word':
        readWord(node);
        return;
      case 'Redirect':
      case 'HereDoc':
      case 'HereString':
        this.#addRedirection(node);
        return;
      default:
    }
  }

  #addRedirection(redirection: Redirection): void {
    if (redirection.descriptor?.type === 'FileDescriptorVariable') throw new UnclearCommand('it sets a variable');
    const isOwn = (redirection.descriptor?.value ?? 0) > 2;
    if (redirection.type === 'HereDoc') {
      if (!redirection.closing) throw new UnclearCommand('its text does not end');
      checkText(redirection.body.parts ?? []);
    }
    if (redirection.type === 'HereDoc' || redirection.type === 'HereString') {
      if (isOwn) throw new UnclearCommand(OWN_DESCRIPTOR);
      return;
    }
    const {operator} = redirection;
    const isDuplicate = operator === '>&' || operator === '<&';
    const isInput = operator === '<';
    const words = redirection.target ? readWord(redirection.target) : [];
    const [target, ...more] = words;
    if (target?.kind === 'text' && more.length === 0) {
      if (!isOwn && isDuplicate && /^(?:[012]|-)$/.test(target.text)) return;
      if (!isOwn && !isInput && target.text === '/dev/null') return;
      // These names are no files: bash opens network connections by them.
      if (/\/dev\/+(?:tcp|udp)\//.test(target.text)) throw new UnclearCommand('it reaches the network');
      (isInput ? this.inputs : this.writes).push(toPath(target));
      if (isOwn) throw new UnclearCommand(OWN_DESCRIPTOR);
      if (isInput || /^(?:>|>>|&>|&>>|>\|)$/.test(operator)) return;
    } else if (!isInput) this.writes.push('.');
    throw new UnclearCommand('where it is redirected to is not plain');
  }

  /** Adds where the part leads when it is a `cd`. */
  move({node, words: [program], expanded}: CommandPart, nodes: readonly SyntaxNode[]): void {
    if (program?.text !== 'cd') return;
    const [target, ...more] = expanded.slice(1);
    const isInLoop = nodes.some((each) => each.type === 'For' && each.pos <= node.pos && each.end >= node.end);
    if (target?.kind !== 'text' || more.length > 0 || /^-|^$/.test(target.text)) {
      this.#doubt('cd: where it leads is not plain');
      return;
    }
    const path = toPath(target);
    const moved = this.directories.map((directory) => joinPath(directory, path));
    if (isInLoop || this.directories.length > MAX_DIRECTORIES || moved.some(goesDownAndUp)) {
      this.#doubt('cd: where it leads is not plain');
    }
    if (this.directories.length <= MAX_DIRECTORIES) this.directories.push(...moved);
  }

  #doubt(because: string): void {
    this.doubt ??= because;
  }
}

/** Not 0, 1 or 2: others belong to the process that started the shell. */
const OWN_DESCRIPTOR = 'it uses a descriptor of its own';
/** `cd` doubles the folders. */
const MAX_DIRECTORIES = 8;

/** The path as seen from where the command started. Not normalized: where `..` leads behind a link is not known here. */
export function joinPath(directory: string, path: string): string {
  if (directory === '.' || path.startsWith('/') || path === '~' || path.startsWith('~/')) return path;
  return path === '.' ? directory : `${directory}/${path}`;
}

/**
 * Whether `..` follows a name, which may be a link. Then `cd` leads to the folder that contains the name, all other
 * programs to the one that contains what the link points to.
 */
function goesDownAndUp(path: string): boolean {
  const steps = path.split('/').filter((step) => step !== '' && step !== '.');
  return steps.lastIndexOf('..') > steps.findIndex((step) => step !== '..') && steps.some((step) => step !== '..');
}

/** The path that a word names. Where bash takes `~` for an ordinary character, the path begins with `./`. */
export function toPath({text, home}: ShellWord & {kind: 'text' | 'glob'}): string {
  return !home && text.startsWith('~') ? `./${text}` : text;
}

/** Variables before a command that change little of what it does. Others could change which program it runs. */
const HARMLESS_VARIABLES = new Set([
  'NODE_ENV',
  'CI',
  'FORCE_COLOR',
  'NO_COLOR',
  'LANG',
  'LC_ALL',
  'TZ',
  'COLUMNS',
  'PYTHONUNBUFFERED',
  'RUST_BACKTRACE',
]);

export function isHarmlessAssignment({name, value, index, append, text}: Assignment): boolean {
  const isPlain = value.type === 'Word' && index === undefined && !append && /^\w+=[\w./:@%+-]*$/.test(text);
  return isPlain && HARMLESS_VARIABLES.has(name);
}
