/** Reads from a parsed command where it changes directory and which files its redirections use. */
import type {Assignment, Command, Redirection, SyntaxNode, Word} from 'unbash';
import {listWords} from '../../util/text.ts';
import {checkText, expandWord, readWord, type ShellWord, UnclearCommand} from './shell-words.ts';

export interface CommandPart {
  readonly node: Command;
  /** Words of the part, the program's name first. */
  readonly words: readonly PartWord[];
  /** Words as bash expands them. A word that may be more than its text shows is `unknown`. */
  readonly expanded: readonly ShellWord[];
}

export interface PartWord {
  /** Word as written, with its quotes. */
  readonly raw: string;
  /** Word after bash has expanded it, if that is known before the command runs. */
  readonly text?: string;
}

export interface CommandShape {
  /**
   * Folders in which parts of the command may run, relative to where it starts. After `cd a` these are `a` and, because
   * `cd` may fail, the folder before it. The list may have too many folders, never too few.
   */
  readonly directories: readonly string[];
  /**
   * Files that redirections write: absolute, with `~/`, or relative to one of `directories`. `inputs` are those they
   * read.
   */
  readonly writes: readonly string[];
  readonly inputs: readonly string[];
  /** Files of redirections that are known only when the command runs, with what they do to these files. */
  readonly unclearFiles: readonly {readonly word: ShellWord; readonly isRead: boolean; readonly isWritten: boolean}[];
  /** Text of here-documents and here-strings. */
  readonly texts: readonly ShellWord[];
  /** Words that loops go through, and values of variables. */
  readonly words: readonly ShellWord[];
  /** Names of variables that loops and assignments set. */
  readonly variables: ReadonlySet<string>;
  /** Words that these variables are set to. */
  readonly assigned: ReadonlyMap<string, readonly Word[]>;
  /** Whether the command continues in the background, or defines what it runs. */
  readonly isDetached: boolean;
  /** Reason why more may run than the parts show, or in other folders; undefined when the text shows everything. */
  readonly doubt?: string;
}

/** The text does not show how often, or in which folder, a part inside these nodes runs. */
const COMPOUND = /^(?:Case|CaseItem|While|Select|ArithmeticFor|ArithmeticCommand|TestCommand|Function|Coproc)$/;

/** @param nodes all nodes of the command, in the order of the text */
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
  readonly unclearFiles: CommandShape['unclearFiles'][number][] = [];
  readonly texts: ShellWord[] = [];
  readonly variables = new Set<string>();
  readonly assigned = new Map<string, readonly Word[]>();
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
        this.#assign(node.name, node.value.type === 'Word' ? [node.value] : node.value.elements);
        if (node.value.type === 'Word') readWord(node.value);
        return;
      case 'For':
        this.#assign(node.name.text, node.wordlist ?? []);
        for (const word of node.wordlist ?? []) readWord(word);
        // Variables of bash that change what it runs have upper case names, so other names are refused.
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

  #assign(name: string, words: readonly Word[]): void {
    this.variables.add(name);
    this.assigned.set(name, [...(this.assigned.get(name) ?? []), ...words]);
    this.words.push(...words.flatMap((word) => expandWord(word)));
  }

  #addRedirection(redirection: Redirection): void {
    if (redirection.descriptor?.type === 'FileDescriptorVariable') throw new UnclearCommand('it sets a variable');
    const isOwn = (redirection.descriptor?.value ?? 0) > 2;
    if (redirection.type === 'HereDoc') {
      this.texts.push({kind: 'text', text: redirection.body.text, home: false});
      if (!redirection.closing) throw new UnclearCommand('its text does not end');
      checkText(redirection.body.parts ?? []);
    }
    if (redirection.type === 'HereString' && redirection.target) this.texts.push(...expandWord(redirection.target));
    if (redirection.type === 'HereDoc' || redirection.type === 'HereString') {
      if (isOwn) throw new UnclearCommand(OWN_DESCRIPTOR);
      return;
    }
    const {operator} = redirection;
    const isDuplicate = operator === '>&' || operator === '<&';
    const isInput = operator === '<';
    for (const word of redirection.target ? expandWord(redirection.target) : []) {
      const use = {isRead: isInput || operator === '<>', isWritten: !isInput};
      if (word.kind !== 'text' && operator !== '<&') this.unclearFiles.push({word, ...use});
      else if (word.kind === 'text' && operator === '<>') this.inputs.push(toPath(word));
    }
    const words = redirection.target ? readWord(redirection.target) : [];
    const [target, ...more] = words;
    if (target?.kind === 'text' && more.length === 0) {
      if (!isOwn && isDuplicate && /^(?:[012]|-)$/.test(target.text)) return;
      if (!isOwn && !isInput && target.text === '/dev/null') return;
      // Bash treats these names as network connections, not as files.
      if (/\/dev\/+(?:tcp|udp)\//.test(target.text)) throw new UnclearCommand('it reaches the network');
      (isInput ? this.inputs : this.writes).push(toPath(target));
      if (isOwn) throw new UnclearCommand(OWN_DESCRIPTOR);
      if (isInput || /^(?:>|>>|&>|&>>|>\|)$/.test(operator)) return;
    } else if (!isInput) this.writes.push('.');
    throw new UnclearCommand('where it is redirected to is not plain');
  }

  /** Adds the folders to which the part leads when it is a `cd`. */
  move({node, words: [program], expanded}: CommandPart, nodes: readonly SyntaxNode[]): void {
    if (program?.text !== 'cd') return;
    const [target, ...more] = expanded.slice(1);
    const isInLoop = nodes.some((each) => each.type === 'For' && each.pos <= node.pos && each.end >= node.end);
    const isNamed = target?.kind === 'text' && more.length === 0 && !/^-|^$/.test(target.text);
    const moved = isNamed ? this.directories.map((directory) => joinPath(directory, toPath(target))) : [];
    const isFull = this.directories.length > MAX_DIRECTORIES;
    if (!isNamed || isInLoop || isFull || moved.some(goesDownAndUp)) this.#doubt('cd: where it leads is not plain');
    if (!isFull) this.directories.push(...moved);
  }

  #doubt(because: string): void {
    this.doubt ??= because;
  }
}

/** Descriptors above 2 belong to the process that started the shell. */
const OWN_DESCRIPTOR = 'it uses a descriptor of its own';
/** Each `cd` doubles the number of folders. */
const MAX_DIRECTORIES = 8;

/**
 * Returns the path relative to where the command starts. It is not normalized, because the target of `..` behind a link
 * is not known here.
 */
export function joinPath(directory: string, path: string): string {
  if (directory === '.' || path.startsWith('/') || path === '~' || path.startsWith('~/')) return path;
  return path === '.' ? directory : `${directory}/${path}`;
}

/**
 * Whether `..` follows a name, which may be a link. In that case `cd` goes to the folder that contains the name, and
 * all other programs go to the folder that contains the target of the link.
 */
function goesDownAndUp(path: string): boolean {
  const steps = path.split('/').filter((step) => step !== '' && step !== '.');
  return steps.lastIndexOf('..') > steps.findIndex((step) => step !== '..') && steps.some((step) => step !== '..');
}

/** Returns the path that a word names. The path begins with `./` if bash treats its `~` as an ordinary character. */
export function toPath({text, home}: ShellWord & {kind: 'text' | 'glob'}): string {
  return !home && text.startsWith('~') ? `./${text}` : text;
}

/** These variables before a command hardly change what it does. Others could change which program it runs. */
const HARMLESS_VARIABLES = new Set(
  listWords(`
  NODE_ENV CI FORCE_COLOR NO_COLOR LANG LC_ALL TZ COLUMNS PYTHONUNBUFFERED RUST_BACKTRACE
`),
);

export function isHarmlessAssignment({name, value, index, append, text}: Assignment): boolean {
  const isPlain = value.type === 'Word' && index === undefined && !append && /^\w+=[\w./:@%+-]*$/.test(text);
  return isPlain && HARMLESS_VARIABLES.has(name);
}
