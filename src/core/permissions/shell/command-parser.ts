/**
 * Commands as bash would read them, parsed by a library. A parser that is lenient where bash is not could hide a part
 * of a command: what it skipped is looked for here, and such a command counts as not understood.
 */
import type {Command, ParsedScript, SyntaxNode, Word} from 'unbash';
import {NotProven, readWord} from './shell-words.ts';

/** Longer commands are written by programs, not to be read by a person. */
const MOST_CHARACTERS = 20_000;

/** What a terminal would not show, and white space that bash takes for a letter. A tab and a newline are known to both. */
const UNSEEN = /(?![\t\n ])[\p{C}\p{Z}]/u;

export type Parser = typeof import('unbash');

export interface ShellScript {
  readonly script: ParsedScript;
  readonly parser: Parser;
}

/** @throws NotProven for what cannot be parsed, whole and without a doubt. */
export async function parseShell(command: string): Promise<ShellScript> {
  if (command.length > MOST_CHARACTERS) throw new NotProven('it is very long');
  if (UNSEEN.test(command)) throw new NotProven('it holds characters that are not seen');
  // Late: a session in which nothing runs does not pay for it.
  const parser = await import('unbash');
  const script = parser.parse(command);
  checkTree(script, command, parser);
  return {script, parser};
}

/** @returns all nodes below and with this one, those of substitutions too. */
export function* nodesOf(node: SyntaxNode, parser: Parser): Generator<SyntaxNode> {
  const waiting: SyntaxNode[] = [node];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    yield next;
    parser.forEachChild(next, (child) => void waiting.push(child));
  }
}

function checkTree(root: ParsedScript, source: string, parser: Parser): void {
  const waiting: {node: SyntaxNode; source: string}[] = [{node: root, source}];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const {node} = next;
    let text = next.source;
    if (node.type === 'Script') {
      // That of a substitution may have a source of its own.
      text = node.source ?? text;
      if ((node.errors?.length ?? 0) > 0)
        throw new NotProven(`it cannot be read as a command: ${node.errors?.[0]?.message}`);
    }
    checkGaps(node, text, parser);
    parser.forEachChild(node, (child) => void waiting.push({node: child, source: text}));
  }
}

/** What may lie between the parts of a node. Of the others, keywords are known to the tree. */
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
  parser.forEachChild(node, (child) => void spans.push(child));
  for (const inner of hereDocsOf(node, parser)) spans.push(inner.body, ...(inner.closing ? [inner.closing] : []));
  const within = spans.filter(({pos, end}) => pos >= node.pos && end <= node.end).sort((a, b) => a.pos - b.pos);
  let at = node.pos;
  for (const {pos, end} of [...within, {pos: node.end, end: node.end}]) {
    const gap = source
      .slice(at, Math.max(at, pos))
      .replace(/\\\n/g, ' ')
      .replace(/(^|[\s;&|])#[^\n]*/g, '$1');
    if (!between.test(gap)) throw new NotProven('a part of it was not understood');
    at = Math.max(at, end);
  }
}

function hereDocsOf(node: SyntaxNode, parser: Parser) {
  return [...nodesOf(node, parser)].filter((inner) => inner.type === 'HereDoc');
}

export interface PartWord {
  /** As it stands there, with its quotes. */
  readonly raw: string;
  /** Once bash has expanded it, where that is known before. */
  readonly text?: string;
}

export interface CommandPart {
  readonly node: Command;
  /** The program's name first. */
  readonly words: readonly PartWord[];
}

export interface ParsedCommand {
  readonly shell: ShellScript;
  readonly parts: readonly CommandPart[];
}

/** @throws NotProven for a command that cannot be read. */
export async function parseCommand(command: string): Promise<ParsedCommand> {
  const shell = await parseShell(command);
  const parts: CommandPart[] = [];
  for (const node of nodesOf(shell.script, shell.parser)) {
    if (node.type !== 'Command' || !node.name) continue;
    const words = [node.name, ...node.args].map((arg) => (arg.type === 'Word' ? partWord(arg) : {raw: arg.text}));
    parts.push({node, words});
  }
  return {shell, parts};
}

function partWord(word: Word): PartWord {
  const raw = word.text;
  try {
    const [only, ...more] = readWord(word).words;
    if (only?.kind === 'text' && !only.home && more.length === 0) return {raw, text: only.text};
    return {raw};
  } catch (error) {
    // What it will be is known only when it runs.
    if (error instanceof NotProven) return {raw};
    throw error;
  }
}

/** Letters that mean nothing to bash. */
const PLAIN = /^[\w@%+=:,./~^-]+$/;

/** The words as a person would write them: quotes only where they are needed. */
export function plainText(words: readonly PartWord[]): string {
  return words.map(({raw, text}) => (text !== undefined && PLAIN.test(text) ? text : raw)).join(' ');
}
