/**
 * Parses a command as bash would, by the library unbash. That parser is more lenient than bash in places and could skip
 * a part of a command. This module finds text that it skipped; a command with such text counts as not understood.
 */
import type {Assignment, Command, ParsedScript, SyntaxNode, Word} from 'unbash';
import {type CommandPart, type CommandShape, findShape, type PartWord} from './command-shape.ts';
import {expandWord, type ShellWord, UnclearCommand, unlessUnclear} from './shell-words.ts';

type Parser = typeof import('unbash');

export interface ParsedCommand {
  /** Simple commands of the command, including those inside substitutions, functions and loops. */
  readonly parts: readonly CommandPart[];
  readonly shape: CommandShape;
}

/** A longer command comes from a program. A person would not read it in a question. */
const MAX_COMMAND_CHARS = 20_000;

/**
 * Characters that a terminal does not show, and white space that bash reads as a letter. Tab and newline are allowed.
 */
const INVISIBLE = /(?![\t\n ])[\p{C}\p{Z}]/u;

/** A command with its parts, or with the reason why it is not understood. */
export interface ReadCommand {
  readonly text: string;
  readonly parsed: ParsedCommand | UnclearCommand;
}

export async function readCommand(text: string): Promise<ReadCommand> {
  // This import is late because many sessions run no command.
  const parser = await import('unbash');
  return {text, parsed: unlessUnclear(() => parseCommand(text, parser))};
}

/** @throws UnclearCommand when some of the command cannot be parsed, or its meaning is in doubt */
function parseCommand(command: string, parser: Parser): ParsedCommand {
  if (command.length > MAX_COMMAND_CHARS) throw new UnclearCommand('it is very long');
  if (INVISIBLE.test(command)) throw new UnclearCommand('it contains invisible characters');
  const script = parser.parse(command);
  checkTree(script, command, parser);
  const nodes = [...listNodes(script, parser)];
  const parts = nodes.flatMap((node) => (node.type === 'Command' && node.name ? [createPart(node, node.name)] : []));
  return {parts, shape: findShape(nodes, parts)};
}

function createPart(node: Command, name: Word): CommandPart {
  const args = [name, ...node.args];
  return {
    node,
    words: args.map((arg) => (arg.type === 'Word' ? toPartWord(arg) : toAssignmentWord(arg))),
    expanded: args.flatMap((arg) => (arg.type === 'Word' ? expandWord(arg) : UNKNOWN)),
  };
}

/** Reads `A=1` as a word of `export` or `alias`. */
function toAssignmentWord({text: raw, name, value}: Assignment): PartWord {
  const text = value.type === 'Word' ? toPartWord(value).text : undefined;
  return text === undefined ? {raw} : {raw, text: `${name}=${text}`};
}

export function toPartWord(word: Word): PartWord {
  const raw = word.text;
  const [only, ...more] = expandWord(word);
  return only?.kind === 'text' && !only.home && more.length === 0 ? {raw, text: only.text} : {raw};
}

const UNKNOWN: readonly ShellWord[] = [{kind: 'unknown'}];

/** Bash leaves words of these characters as they are. */
const UNQUOTED = /^[\w@%+=:,./~^-]+$/;

/** Formats the words as a person would write them, with quotes only where they are needed. */
export function formatWords(words: readonly PartWord[]): string {
  return words.map(({raw, text}) => (text !== undefined && UNQUOTED.test(text) ? text : raw)).join(' ');
}

/** Yields this node and all nodes below it, including those of substitutions, in the order of the text. */
function* listNodes(node: SyntaxNode, parser: Parser): Generator<SyntaxNode> {
  const waiting: SyntaxNode[] = [node];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    yield next;
    const children: SyntaxNode[] = [];
    parser.forEachChild(next, (child) => {
      children.push(child);
    });
    waiting.push(...children.reverse());
  }
}

function checkTree(root: ParsedScript, source: string, parser: Parser): void {
  const waiting: {node: SyntaxNode; source: string}[] = [{node: root, source}];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const {node} = next;
    let text = next.source;
    if (node.type === 'Script') {
      // The script of a substitution may have another source text.
      text = node.source ?? text;
      if ((node.errors?.length ?? 0) > 0)
        throw new UnclearCommand(`it cannot be read as a command: ${node.errors?.[0]?.message}`);
    }
    checkGaps(node, text, parser);
    parser.forEachChild(node, (child) => {
      waiting.push({node: child, source: text});
    });
  }
}

/**
 * Only this text may lie between the children of these nodes. Other nodes have keywords there, which the tree contains.
 */
const BETWEEN: Partial<Record<SyntaxNode['type'], RegExp>> = {
  Script: /^[;&\s]*$/,
  CompoundList: /^[;&\s]*$/,
  Command: /^\s*$/,
  Pipeline: /^\s*(?:\|&?\s*)?$/,
  AndOr: /^\s*(?:&&|\|\|)?\s*$/,
};

function checkGaps(node: SyntaxNode, source: string, parser: Parser): void {
  const between = BETWEEN[node.type];
  if (!between) return;
  const spans: {pos: number; end: number}[] = [];
  parser.forEachChild(node, (child) => {
    spans.push(child);
  });
  for (const inner of listNodes(node, parser)) {
    if (inner.type === 'HereDoc') spans.push(inner.body, ...(inner.closing ? [inner.closing] : []));
  }
  const within = spans.filter(({pos, end}) => pos >= node.pos && end <= node.end).sort((a, b) => a.pos - b.pos);
  let at = node.pos;
  for (const {pos, end} of [...within, {pos: node.end, end: node.end}]) {
    const gap = source
      .slice(at, Math.max(at, pos))
      .replace(/\\\n/g, ' ')
      .replace(/(^|[\s;&|])#[^\n]*/g, '$1');
    if (!between.test(gap)) throw new UnclearCommand('a part of it was not understood');
    at = Math.max(at, end);
  }
}
